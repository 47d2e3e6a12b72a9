package expression

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/measure"
)

func TestRange(t *testing.T) {
	truth, count := measure.Range{Low: 0, High: 1}, measure.Range{Low: 0, High: math.Inf(1)}
	cases := map[string]struct {
		reason, text string
		want         measure.Range
	}{
		"Field":       {reason: "A field of the answer may have each value.", text: "answer.errors", want: measure.AnyValue()},
		"Comparison":  {reason: "A comparison is true or false.", text: "answer.errors > 5", want: truth},
		"Function":    {reason: "A function of texts is true or false.", text: `answer.state.startsWith("ok")`, want: truth},
		"Size":        {reason: "A size is not negative.", text: "size(answer.errors)", want: count},
		"SizeOf":      {reason: "A size that is written behind its list is not negative.", text: "answer.items.filter(i, i.up).size()", want: count},
		"Unsigned":    {reason: "A number without a sign is not negative.", text: "uint(answer.a)", want: count},
		"True":        {reason: "A constant has one value.", text: "true", want: measure.OneValue(1)},
		"False":       {reason: "A comparison of constants has one value.", text: "1 > 2", want: measure.OneValue(0)},
		"Number":      {reason: "A sum of constants has one value.", text: "1.5 + 2.0", want: measure.OneValue(3.5)},
		"OrTrue":      {reason: "An alternative that holds decides, whatever the answer is.", text: "answer.errors >= 0 || true", want: measure.OneValue(1)},
		"TrueOr":      {reason: "The alternative may stand first.", text: "true || answer.errors >= 0", want: measure.OneValue(1)},
		"AndFalse":    {reason: "A condition that never holds decides, whatever the answer is.", text: "answer.ok && 1 == 2", want: measure.OneValue(0)},
		"Conditional": {reason: "A choice by a constant has the value that it chooses.", text: "true ? 7 : answer.a", want: measure.OneValue(7)},
		"ByAnswer":    {reason: "A choice by the answer may have each value.", text: "answer.ok ? answer.a : 0.0", want: measure.AnyValue()},
		"SizeAlways":  {reason: "A size is at least 0.", text: "size(answer.items) >= 0", want: measure.OneValue(1)},
		"SizeAtMost":  {reason: "Zero is at most a size.", text: "0 <= answer.items.size()", want: measure.OneValue(1)},
		"SizeNever":   {reason: "A size is never below 0.", text: "size(answer.items) < 0", want: measure.OneValue(0)},
		"SizeSome":    {reason: "A size may be 0.", text: "size(answer.items) > 0", want: truth},
		"SizeNot":     {reason: "The opposite of a comparison that never holds always holds.", text: "!(0 > size(answer.items))", want: measure.OneValue(1)},
		"NotAnswer":   {reason: "The opposite of a field is true or false.", text: "!answer.ok", want: truth},
		"Equals":      {reason: "An equality is true or false.", text: "size(answer.items) == 0", want: truth},
		"SameBoth":    {reason: "A choice between equal values has one value.", text: "answer.ok ? 1 : 1", want: measure.OneValue(1)},
		"Both":        {reason: "A choice lies between its values.", text: "answer.ok ? 2.5 : (answer.up ? 7.0 : 1.0)", want: measure.Range{Low: 1, High: 7}},
		"OrNull":      {reason: "A choice of no data may have each value.", text: "answer.ok ? dyn(1) : dyn(null)", want: measure.AnyValue()},
		"Null":        {reason: "An expression without data has no value.", text: "dyn(null)", want: measure.NoValue()},
		"Error":       {reason: "An expression that cannot be evaluated has no value.", text: "1 / 0", want: measure.NoValue()},
	}
	r := NewReader(1)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := r.Read(tc.text)
			if err != nil {
				t.Fatalf("\n%s\nRead(%q): %v", tc.reason, tc.text, err)
			}
			got, err := e.Range()
			if err != nil {
				t.Fatalf("\n%s\nRange(): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n%s: Range(): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
