package expression

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// chain nests an expression n times: %s stands for the inner expression.
func chain(form, inside string, n int) string {
	for range n {
		inside = strings.Replace(form, "%s", inside, 1)
	}
	return inside
}

func TestReadExpression(t *testing.T) {
	const cel, large, noNumber = "is not CEL that checks may use", "makes a list or a map of several things", "gives neither a number nor true or false"
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Number":  {reason: "A field of the answer is accepted as a number.", text: "answer.errors"},
		"Sum":     {reason: "A sum of numbers is accepted.", text: "answer.a + answer.b * 2.0 - 1.0"},
		"Compare": {reason: "A comparison of texts is accepted.", text: `answer.state == "ok" || answer.state.startsWith("good")`},
		"Among":   {reason: "A comparison with several constants is accepted.", text: `answer.state in ["ok", "good"]`},
		"Count": {
			reason: "The elements that match a condition may be counted.",
			text:   `answer.items.filter(i, has(i.up) && i.up).size() >= 2 && answer.items.exists_one(i, i.x == 1)`,
		},
		"Nonsense":  {reason: "Text that is not CEL is refused.", text: "answer.", want: cel},
		"Unknown":   {reason: "An expression with a variable beside the answer is refused.", text: "env.HOME", want: cel},
		"List":      {reason: "An expression that gives no number is refused.", text: "[1, 2]", want: noNumber},
		"Long":      {reason: "An expression that is too long is refused.", text: strings.Repeat("1+", 600) + "1", want: "has more than 1024 characters"},
		"Deep":      {reason: "An expression that nests too deep is refused.", text: chain("(%s)", "1", 400), want: cel},
		"Matches":   {reason: "A regular expression takes as long as it likes, in one step.", text: `answer.s.matches("(?i)(\\pL{400}\\d)$")`, want: cel},
		"Map":       {reason: "A list of one thing many times.", text: "answer.map(x, answer).size()", want: cel},
		"Twice":     {reason: "A list of one thing twice.", text: "[answer, answer].size()", want: large},
		"Entries":   {reason: "A map that holds the answer twice is refused.", text: "{'a': answer, 'b': answer}.size()", want: large},
		"TwiceDeep": {reason: "A nested list that holds one thing twice is refused.", text: "answer.all(x, [[[x], [x]]].size() == 1)", want: large},
		"Zones":     {reason: "A time zone is a file.", text: `timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin")`, want: cel},
		"Bytes":     {reason: "Functions for bytes are not available.", text: `size(bytes(answer.s))`, want: cel},
		"Accumulate": {
			reason: "A name that CEL keeps for itself is refused.",
			text:   "answer.filter(x, size(__result__ + __result__) > 0).size()", want: "__result__ is CEL's own",
		},
	}
	r := NewReader(1 << 20)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				_, err := r.Read(tc.text)
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
					t.Errorf("%s\nRead(%.80q): want error %q, got %v", tc.reason, tc.text, tc.want, err)
				}
			}
		})
	}
	compiled, _ := r.Read("answer")
	if cached, _ := r.Read("answer"); compiled == nil || compiled != cached {
		t.Error("an expression is read again")
	}
}

func evaluate(t *testing.T, text, answer string) (ref.Val, error) {
	t.Helper()
	e, err := NewReader(1).Read(text)
	if err != nil {
		t.Fatal(err)
	}
	var body any
	if err := json.Unmarshal([]byte(answer), &body); err != nil {
		t.Fatal(err)
	}
	return e.Evaluate(t.Context(), body)
}

func TestEvaluate(t *testing.T) {
	for text, want := range map[string]ref.Val{
		"answer.n + 1.0": types.Double(3), "answer.l.filter(x, x > 1.0).size()": types.Int(2), `answer.s + "x" == "ax"`: types.True,
		"answer.l.exists_one(x, x == 1.0)": types.True, `answer.s in ["a", "b"]`: types.True, `double(answer.l.size()) / 2.0`: types.Double(1.5),
		"answer.l.filter(x, answer.l.filter(y, y < x).size() > 0).size()": types.Int(2), "answer.n in answer.l ? 1 : 0": types.Int(1),
	} {
		if got, err := evaluate(t, text, `{"n":2,"s":"a","l":[1,2,3]}`); err != nil || got.Equal(want) != types.True {
			t.Errorf("Evaluate(%q): want %v, got %v, %v", text, want, got, err)
		}
	}
}

// TestBombs are expressions that would take all time, or all memory, in one step.
func TestBombs(t *testing.T) {
	long := `"` + strings.Repeat("a", maxText/2) + `"`
	for name, tc := range map[string]struct{ text, answer, want string }{
		"Text":  {text: chain("[answer + answer].all(answer, %s)", "size(answer) > 0", 2), answer: long, want: "the text is too long"},
		"Lists": {text: "answer + answer == answer", answer: `[[]]`, want: "lists cannot be added"},
		"Inner": {text: "[answer.filter(x, true) + answer.filter(x, true)].all(y, y == y)", answer: `[1]`, want: "lists cannot be added"},
	} {
		if _, err := evaluate(t, tc.text, tc.answer); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want error %q, got %v", name, tc.want, err)
		}
	}
}

func TestCost(t *testing.T) {
	var cost *CostError
	longList := `[` + strings.Repeat("1,", 20_000) + `1]`
	// As many steps as are too many by themselves, and few steps that are long.
	if _, err := evaluate(t, "answer.all(a, answer.all(b, answer.all(c, a == c)))", longList); !errors.As(err, &cost) {
		t.Errorf("Evaluate(...): %v", err)
	}
	long := `["` + strings.Repeat("a", 500_000) + `",1,2,3,4,5,6,7,8]`
	for expression, answer := range map[string]string{
		strings.Repeat("[answer] == [answer] && ", 30) + "true": `[1]`, strings.Repeat("answer in [answer] && ", 30) + "true": `[1]`,
		"{'a': answer} != {'a': answer}" + strings.Repeat(" || {'a': answer} != {'a': answer}", 25):            `[1]`,
		strings.Repeat("!(1 in answer) && ", 9) + "false || " + strings.Repeat("2 in answer || ", 9) + "false": longList,
		"answer.all(a, size(answer[0]) > 0)": long, `answer.all(a, answer[0] > "")`: long, `answer.all(a, answer[0].contains("a"))`: long,
		"answer.all(a, string(answer[0]) != '')": long,
	} {
		if _, err := evaluate(t, expression, answer); !errors.As(err, &cost) || t.Context().Err() != nil {
			t.Errorf("Evaluate(%.40q): %v", expression, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := NewReader(1).Read("answer.all(a, [answer] == [answer])")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Evaluate(ctx, []any{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0}); !errors.As(err, &cost) {
		t.Errorf("Evaluate(...) after its context ended: %v", err)
	}
}

// TestReaderForgets reads two long expressions, of which the reader has memory for one.
func TestReaderForgets(t *testing.T) {
	long := func(begin string) string {
		return begin + ` == "` + strings.Repeat("x", maxCharacters-len(begin)-len(` == ""`)) + `"`
	}
	r := NewReader(bytesPerCharacter * maxCharacters * 3 / 2)
	first, err := r.Read(long("answer.a"))
	cached, _ := r.Read(long("answer.a"))
	if err != nil || first != cached {
		t.Errorf("An expression that fits is cached.\nRead(...): %v", err)
	}
	if _, err := r.Read(long("answer.b")); err != nil {
		t.Error(err)
	}
	if again, _ := r.Read(long("answer.a")); again == first {
		t.Error("The cache drops expressions beyond its bytes, which follow from the lengths of the texts.\nRead(...): want another result")
	}
}
