package evaluators_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis"
	"github.com/intentplane/intentplane/tools/evaluators"
	"github.com/intentplane/intentplane/tools/evaluators/argo"
	"github.com/intentplane/intentplane/tools/evaluators/ours"
)

// A webRule is a form of a metric that asks a web server.
type webRule struct {
	reason, path     string
	success, failure string
	isRefused        bool
}

func webRules() map[string]webRule {
	return map[string]webRule{
		"Value":        {reason: "A number is compared.", path: "{$.a}", success: "result < 5"},
		"Converted":    {reason: "A text is converted to a number.", path: "{$.a}", success: "asFloat(result) >= 5"},
		"Whole":        {reason: "A number is cut.", path: "{$.a}", success: "asInt(result) == 5"},
		"Failure":      {reason: "A condition of failure decides.", path: "{$.a}", failure: "result > 5"},
		"Range":        {reason: "Two limits decide.", path: "{$.a}", success: "result > 1 && result <= 5"},
		"Text":         {reason: "A text is compared.", path: "{$}", success: `result.state == "ok"`},
		"OtherText":    {reason: "A text is excluded.", path: "{$}", success: `result.state != "bad"`},
		"True":         {reason: "A field is true.", path: "{$.ok}", success: "result"},
		"TrueField":    {reason: "A field of an object is true.", path: "{$}", success: "result.ok"},
		"Equal":        {reason: "A field is compared with true.", path: "{$}", success: "result.ok == true"},
		"Denied":       {reason: "A field is false.", path: "{$}", success: "!result.ok"},
		"And":          {reason: "Both conditions hold.", path: "{$}", success: `result.ok && result.state == "ok"`},
		"Or":           {reason: "One of two conditions holds.", path: "{$}", success: `result.b.c == 1 || result.ok`},
		"OrReversed":   {reason: "The second condition may be an error.", path: "{$}", success: `result.ok || result.b.c == 1`},
		"FailureOr":    {reason: "One of two conditions fails.", path: "{$}", failure: `result.state == "bad" || result.a > 5`},
		"Nested":       {reason: "A field of a field is compared.", path: "{$}", success: "result.b.c > 1"},
		"NestedPath":   {reason: "The path selects a field of a field.", path: "{$.b.c}", success: "result > 1"},
		"Nil":          {reason: "A field is missing.", path: "{$}", success: "result.a == nil"},
		"NotNil":       {reason: "A field is there.", path: "{$}", success: "result.a != nil"},
		"Length":       {reason: "A list is short.", path: "{$}", success: "len(result.list) < 2"},
		"LengthOfPath": {reason: "The path selects a list.", path: "{$.list}", success: "len(result) == 0"},
		"Element":      {reason: "An element is compared.", path: "{$}", success: "result.list[0] < 5"},
		"ElementOf":    {reason: "An element of the selected list is compared.", path: "{$.list}", success: "result[0] < 5"},
		"Key":          {reason: "A name with a hyphen selects a field.", path: "{$}", success: `result["in-flight"] < 5`},
		"KeyPath":      {reason: "A path with a hyphen selects a field.", path: "{$['in-flight']}", success: "result < 5"},
		"Negative":     {reason: "A limit has a sign.", path: "{$}", success: "result.a > -5"},
		"FalseField":   {reason: "A field is compared with false.", path: "{$}", success: "result.ok == false"},
		"NotEqual":     {reason: "One number is excluded.", path: "{$}", success: "result.a != 5"},
		"NotLess":      {reason: "A comparison is denied.", path: "{$}", success: "!(result.a > 5)"},
		"TextLength":   {reason: "A text is short.", path: "{$}", success: "len(result.state) < 3"},
		"NestedKey":    {reason: "Names select a field of a field.", path: "{$}", success: `result["b"]["c"] > 1`},
		"TextOrder":    {reason: "A text is greater.", path: "{$}", success: `result.state > "bad"`},
		"FloatField":   {reason: "A field is converted.", path: "{$}", success: "float(result.a) > 1"},
		"PlainPath":    {reason: "A path has no dollar sign.", path: "{.a}", success: "result < 5"},
		"LineBehind":   {reason: "The end of a line stands behind a path.", path: "{$.a}\n", success: "result < 5"},
		"NoBraces":     {reason: "A path without braces is a text.", path: "$.a", success: "result < 5", isRefused: true},
		"SpaceBefore":  {reason: "A text stands before a path.", path: " {$.a}", success: "result < 5", isRefused: true},
		"EmptyBraces":  {reason: "Empty braces select nothing.", path: "{}", success: "result.a < 5", isRefused: true},
		"NoPath":       {reason: "Without a path, the answer is the result.", path: "", success: "result.a < 5"},
		"NilFirst":     {reason: "Nothing stands before the field.", path: "{$}", success: "nil == result.a"},
		"TwoFields":    {reason: "Two fields are compared.", path: "{$}", success: "result.a == result.b.c"},
		"NotAnd":       {reason: "Two conditions are denied together.", path: "{$}", success: `!(result.ok && result.state == "bad")`},
		"FailureAnd":   {reason: "Two conditions fail together.", path: "{$}", failure: `result.state == "bad" && result.a > 5`},
		"Arithmetic":   {reason: "A sum is compared.", path: "{$}", success: "result.a + 1 < 5", isRefused: true},
		"Always":       {reason: "No answer fails.", path: "{$}", success: "result.a < 5 || true", isRefused: true},
		"Never":        {reason: "No answer passes as a failure.", path: "{$}", failure: "false", isRefused: true},
		"Wildcard":     {reason: "A path selects several fields.", path: "{$.list[*]}", success: "result < 5", isRefused: true},
	}
}

// newBody returns an object, or JSON of another kind. A list may be a text.
func newBody(r *rand.Rand, otherList any) string {
	object := map[string]any{}
	for _, field := range []struct {
		name   string
		values []any
	}{
		{"a", []any{0, 1, 5, 5.5, -5, 6, "5", "5.5", "x", true, nil}},
		{"state", []any{"ok", "bad", "", 1, nil}},
		{"ok", []any{true, false, true, false, 1, "true", nil}},
		{"b", []any{map[string]any{"c": 1}, map[string]any{"c": 2.5}, map[string]any{}, 1, nil}},
		{"list", []any{[]any{}, []any{1}, []any{9, 1, 2}, []any{"x"}, otherList, nil}},
		{"in-flight", []any{1, 9, "x"}},
	} {
		if r.IntN(5) > 0 {
			object[field.name] = pick(r, field.values...)
		}
	}
	out, _ := json.Marshal(object)
	if r.IntN(30) == 0 {
		return pick(r, "1", "[]", "null", `"text"`)
	}
	return string(out)
}

// TestArgoRolloutsWeb converts metrics of Argo Rollouts that ask a web server.
func TestArgoRolloutsWeb(t *testing.T) {
	for name, rule := range webRules() {
		t.Run(name, func(t *testing.T) {
			var refusal error
			r, converted := newRandom(t, name), 0
			for range settingsOfRule * 20 {
				m, _ := argoRule{success: rule.success, failure: rule.failure}.newMetric(r)
				m["provider"] = map[string]any{"web": map[string]any{"url": "https://shop.example.org/status", "jsonPath": rule.path}}
				c, err := convert(t, m)
				if err != nil {
					refusal = err
					continue
				}
				rule.compare(t, r, c)
				if converted++; converted == settingsOfRule || t.Failed() {
					break
				}
			}
			if (converted == 0) != rule.isRefused {
				t.Errorf("\n%s\n%d metrics are converted, and refused: %v: %v", rule.reason, converted, rule.isRefused, refusal)
			}
		})
	}
}

// compare judges series of answers of a web server by both.
func (w webRule) compare(t *testing.T, r *rand.Rand, c *conversion) {
	t.Helper()
	otherList, separate := any("text"), hasNote(c.notes, analysis.DifferenceFailures+" counts")
	if hasNote(c.notes, analysis.DifferenceElement) {
		otherList = map[string]any{"x": 1}
	}
	for range seriesOfRule / settingsOfRule {
		answers := make([]evaluators.WebAnswer, c.length)
		for i := range answers {
			answers[i] = evaluators.WebAnswer{Status: pick(r, 200, 200, 200, 500), ContentType: "application/json", Body: newBody(r, otherList)}
		}
		w.compareSeries(t, c, answers, !separate)
	}
	for difference, answer := range map[string]evaluators.WebAnswer{
		analysis.DifferenceNotJSON:     {Status: 200, ContentType: "application/json", Body: "well"},
		analysis.DifferenceNotSaidJSON: {Status: 201, ContentType: "text/plain", Body: "{}"},
	} {
		if !hasNote(c.notes, difference) {
			t.Errorf("\n%s\nThe notes %q do not name %q", w.reason, c.notes, difference)
		}
		answers := make([]evaluators.WebAnswer, c.length)
		for i := range answers {
			answers[i] = answer
		}
		w.compareSeries(t, c, answers, false)
	}
}

func (w webRule) compareSeries(t *testing.T, c *conversion, answers []evaluators.WebAnswer, isEqual bool) {
	t.Helper()
	there, err := c.metric.JudgeWeb(answers)
	if errors.Is(err, argo.ErrPanic) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	here, err := ours.JudgeWeb(c.checks, answers)
	if err != nil {
		t.Fatal(err)
	}
	if isEqual && there != here {
		t.Fatalf("\n%s\n%v: %q in Argo Rollouts, %q here\n%+v", w.reason, answers, there, here, c.checks[0].Web)
	}
}
