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
		"Converted":   {reason: "A converted size is not negative.", text: "double(size(answer.items)) >= 0.0", want: measure.OneValue(1)},
		"ConvertedDyn": {
			reason: "A size whose type is hidden is not negative.",
			text:   "dyn(double(size(answer.items))) >= 0", want: measure.OneValue(1),
		},
		"Cut":         {reason: "A number is cut, and not rounded.", text: "int(2.7) + size(answer.items)", want: measure.Range{Low: 2, High: math.Inf(1)}},
		"Plus":        {reason: "A size and one is more than 0.", text: "size(answer.items) + 1 > 0", want: measure.OneValue(1)},
		"Minus":       {reason: "A difference may have each value.", text: "size(answer.a) - size(answer.b)", want: measure.AnyValue()},
		"Times":       {reason: "A multiple of a size keeps its sign.", text: "-2 * size(answer.items)", want: measure.Range{Low: math.Inf(-1), High: 0}},
		"Half":        {reason: "A part of a whole number is cut.", text: "(answer.ok ? 5 : 7) / 2", want: measure.Range{Low: 2, High: 3.5}},
		"Remainder":   {reason: "A remainder is smaller than the divisor.", text: "size(answer.items) % 3 <= 3", want: measure.OneValue(1)},
		"Negated":     {reason: "A negative size is not positive.", text: "-size(answer.items) <= 0", want: measure.OneValue(1)},
		"Tautology":   {reason: "A number is below a limit or at it.", text: "answer.a < 5 || answer.a >= 5", want: measure.OneValue(1)},
		"Mirrored":    {reason: "The limit may stand first.", text: "5 > answer.a || 5 <= answer.a", want: measure.OneValue(1)},
		"Exchanged":   {reason: "The sides of a comparison may be exchanged.", text: "answer.a < 5 || !(5 > answer.a)", want: measure.OneValue(1)},
		"OrNot":       {reason: "A field is true or false.", text: "answer.ok || !answer.ok", want: measure.OneValue(1)},
		"OrNotNot":    {reason: "Negations are counted.", text: "!!answer.ok || !answer.ok", want: measure.OneValue(1)},
		"OrOther":     {reason: "Two fields may both be false.", text: "answer.ok || !answer.up", want: truth},
		"OrGap":       {reason: "Two comparisons may leave a gap.", text: "answer.a < 5 || answer.a > 5", want: truth},
		"AndNot":      {reason: "A field is not true and false.", text: "answer.ok && !answer.ok", want: measure.OneValue(0)},
		"OrSize":      {reason: "A side that always holds decides.", text: "answer.ok || size(answer.items) >= 0", want: measure.OneValue(1)},
		"AndSize":     {reason: "A side that always holds leaves the other.", text: "answer.ok && size(answer.items) >= 0", want: truth},
		"Itself":      {reason: "A value equals itself.", text: "answer.a == answer.a", want: measure.OneValue(1)},
		"LessItself":  {reason: "A value is not less than itself.", text: "answer.a < answer.a", want: measure.OneValue(0)},
		"NeverEqual":  {reason: "A size differs from each negative number.", text: "size(answer.items) != -1", want: measure.OneValue(1)},
		"AllTrue":     {reason: "A condition that always holds does so for all items.", text: "answer.items.all(i, true)", want: measure.OneValue(1)},
		"AllSome":     {reason: "A condition may hold for some items.", text: "answer.items.all(i, i.up)", want: truth},
		"ExistsNever": {reason: "No item has a negative size.", text: "answer.items.exists(i, size(i) < 0)", want: measure.OneValue(0)},
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
