package evaluators_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis"
	"github.com/intentplane/intentplane/tools/evaluators"
	"github.com/intentplane/intentplane/tools/evaluators/argo"
	"github.com/intentplane/intentplane/tools/evaluators/ours"
)

// An argoRule is a form of a metric. LIMIT and OTHER stand for numbers, the second of which is greater.
type argoRule struct {
	reason           string
	query            string
	success, failure string

	// isRefused is true if the command refuses each metric of this form.
	isRefused bool
}

const (
	oneSeries     = "sum(x)"
	severalSeries = "x"
	scalarQuery   = "scalar(sum(x))"
)

func argoRules() map[string]argoRule {
	return map[string]argoRule{
		"Less":          {reason: "An upper limit excludes itself.", query: oneSeries, success: "result[0] < LIMIT"},
		"LessEqual":     {reason: "An upper limit includes itself.", query: oneSeries, success: "result[0] <= LIMIT"},
		"Greater":       {reason: "A lower limit excludes itself.", query: oneSeries, success: "result[0] > LIMIT"},
		"GreaterEqual":  {reason: "A lower limit includes itself.", query: oneSeries, success: "result[0] >= LIMIT"},
		"Equal":         {reason: "One value alone passes.", query: oneSeries, success: "result[0] == LIMIT"},
		"Mirrored":      {reason: "The limit stands first.", query: oneSeries, success: "LIMIT >= result[0]"},
		"Not":           {reason: "A comparison is denied.", query: oneSeries, success: "!(result[0] > LIMIT)"},
		"Converted":     {reason: "The value is converted.", query: oneSeries, success: "asFloat(result[0]) <= LIMIT"},
		"Failure":       {reason: "A condition of failure alone decides.", query: oneSeries, failure: "result[0] > LIMIT"},
		"FailureBelow":  {reason: "A condition of failure below a limit decides.", query: oneSeries, failure: "result[0] < LIMIT"},
		"FailureEither": {reason: "Either condition of failure decides.", query: oneSeries, failure: "result[0] < LIMIT || result[0] > OTHER"},
		"Range":         {reason: "Both limits decide.", query: oneSeries, success: "result[0] >= LIMIT && result[0] < OTHER"},
		"Both":          {reason: "Both conditions are opposites.", query: oneSeries, success: "result[0] <= LIMIT", failure: "result[0] > LIMIT"},
		"Gap": {
			reason: "A gap is between both conditions.",
			query:  oneSeries, success: "result[0] <= LIMIT", failure: "result[0] > OTHER", isRefused: true,
		},
		"GuardFirst":  {reason: "A guard demands data.", query: oneSeries, success: "len(result) > 0 && result[0] < LIMIT"},
		"GuardBehind": {reason: "A guard comes too late.", query: oneSeries, success: "result[0] < LIMIT && len(result) > 0"},
		"GuardNaN":    {reason: "A guard demands a number.", query: oneSeries, success: "!isNaN(result[0]) && result[0] < LIMIT"},
		"EmptyPasses": {reason: "A guard accepts an answer without series.", query: oneSeries, success: "len(result) == 0 || result[0] < LIMIT"},
		"EmptyPassesLate": {
			reason: "A guard that accepts an answer without series comes too late.",
			query:  oneSeries, success: "result[0] < LIMIT || len(result) == 0",
		},
		"NaNPasses":  {reason: "A guard accepts NaN.", query: oneSeries, success: "isNaN(result[0]) || result[0] < LIMIT"},
		"NaNFails":   {reason: "A guard of a failure refuses NaN.", query: oneSeries, failure: "isNaN(result[0]) || result[0] > LIMIT"},
		"EmptyFails": {reason: "A guard of a failure refuses an answer without series.", query: oneSeries, failure: "len(result) == 0 || result[0] > LIMIT"},
		"MixedGuards": {
			reason: "One of two limits accepts an answer without series.",
			query:  oneSeries, success: "(len(result) == 0 || result[0] < OTHER) && result[0] > LIMIT",
		},
		"List":          {reason: "A list is compared with a number.", query: oneSeries, success: "result < LIMIT"},
		"Scalar":        {reason: "A number is compared.", query: scalarQuery, success: "result < LIMIT"},
		"ScalarFailure": {reason: "A number fails.", query: scalarQuery, failure: "result >= LIMIT"},
		"ScalarNaN":     {reason: "A number may be NaN.", query: scalarQuery, success: "isNaN(result) || result < LIMIT"},
		"ScalarElement": {reason: "A number has no elements.", query: scalarQuery, success: "result[0] < LIMIT"},
		"Several":       {reason: "The first of several series is compared.", query: severalSeries, success: "result[0] < LIMIT"},
		"SeveralGuard":  {reason: "Several series are not missing.", query: severalSeries, success: "len(result) == 0 || result[0] < LIMIT"},
		"Alternative":   {reason: "Two ranges pass.", query: oneSeries, success: "result[0] < LIMIT || result[0] > OTHER", isRefused: true},
		"NotEqual":      {reason: "All values but one pass.", query: oneSeries, success: "result[0] != LIMIT", isRefused: true},
		"SecondSeries":  {reason: "The second series is compared.", query: severalSeries, success: "result[1] < LIMIT", isRefused: true},
		"All":           {reason: "All series are compared.", query: severalSeries, success: "all(result, {# < LIMIT})", isRefused: true},
		"Default":       {reason: "Missing data has a value.", query: oneSeries, success: "default(result, 0) < LIMIT", isRefused: true},
		"AlwaysPasses":  {reason: "No value fails.", query: oneSeries, success: "result[0] >= 0 || true", isRefused: true},
		"NoConditions":  {reason: "Nothing is compared.", query: oneSeries, isRefused: true},
		"Infinite":      {reason: "An infinite value is looked for.", query: oneSeries, success: "!isInf(result[0]) && result[0] < LIMIT", isRefused: true},
		"BothRanges": {
			reason: "Both conditions are opposites of a range.", query: oneSeries,
			success: "result[0] >= LIMIT && result[0] <= OTHER", failure: "result[0] < LIMIT || result[0] > OTHER",
		},
		"NotNotEqual": {reason: "An inequality is denied.", query: oneSeries, success: "!(result[0] != LIMIT)"},
		"NotNot":      {reason: "A comparison is denied twice.", query: oneSeries, success: "!!(result[0] < LIMIT)"},
		"NotEither":   {reason: "A guard is denied with the comparison.", query: oneSeries, success: "!(len(result) == 0 || result[0] >= LIMIT)"},
		"NotBoth": {
			reason: "A guard that accepts an answer without series is denied.",
			query:  oneSeries, success: "!(len(result) > 0 && result[0] > LIMIT)",
		},
		"EitherMissing": {
			reason: "Two guards accept missing data.",
			query:  oneSeries, success: "len(result) == 0 || isNaN(result[0]) || result[0] < LIMIT",
		},
		"BothGuards": {
			reason: "Two guards demand data.",
			query:  oneSeries, success: "len(result) > 0 && !isNaN(result[0]) && result[0] < LIMIT",
		},
		"EitherGuardDenied": {
			reason: "Two guards of a failure refuse missing data.",
			query:  oneSeries, failure: "len(result) == 0 || isNaN(result[0]) || result[0] > LIMIT",
		},
		"GuardsLast": {
			reason: "Two guards that accept missing data come too late.",
			query:  oneSeries, success: "result[0] < LIMIT || (isNaN(result[0]) || len(result) == 0)",
		},
		"MixedJoiners": {
			reason: "Two guards that cannot both hold accept nothing.",
			query:  oneSeries, success: "(len(result) == 0 && isNaN(result[0])) || result[0] < LIMIT", isRefused: true,
		},
		"FailureNot":       {reason: "A comparison of a failure is denied.", query: oneSeries, failure: "!(result[0] <= LIMIT)"},
		"FailureGuarded":   {reason: "A failure demands data.", query: oneSeries, failure: "len(result) > 0 && result[0] > LIMIT"},
		"FloatFunction":    {reason: "The value is converted by the language's own function.", query: oneSeries, success: "float(result[0]) > LIMIT"},
		"Parentheses":      {reason: "The value stands in parentheses.", query: oneSeries, success: "(result[0]) <= (LIMIT)"},
		"ScalarBoth":       {reason: "A number has both limits.", query: scalarQuery, success: "result >= LIMIT && result <= OTHER"},
		"SeveralLen":       {reason: "There may be no series at all.", query: severalSeries, success: "len(result) == 0", isRefused: true},
		"FractionIndex":    {reason: "An index is a fraction.", query: oneSeries, success: "result[0.0] < LIMIT", isRefused: true},
		"LastSeries":       {reason: "The last series is compared.", query: severalSeries, success: "result[-1] < LIMIT", isRefused: true},
		"AtLeastOne":       {reason: "A guard counts the series.", query: oneSeries, success: "len(result) >= 1 && result[0] < LIMIT", isRefused: true},
		"Whole":            {reason: "The value is cut.", query: oneSeries, success: "int(result[0]) < LIMIT", isRefused: true},
		"Scaled":           {reason: "The value is multiplied.", query: oneSeries, success: "result[0] * 100 < LIMIT", isRefused: true},
		"Words":            {reason: "An operator is a word.", query: oneSeries, success: "result[0] > LIMIT and result[0] < OTHER", isRefused: true},
		"Chain":            {reason: "Comparisons are chained.", query: oneSeries, success: "LIMIT < result[0] < OTHER", isRefused: true},
		"Choice":           {reason: "A condition chooses.", query: oneSeries, success: "result[0] < LIMIT ? true : false", isRefused: true},
		"SeparateFailures": {reason: "Two limits have a limit of failures.", query: severalSeries, success: "result[0] > LIMIT && result[0] < OTHER"},
	}
}

// newMetric returns a metric of a rule with random numbers, counts and limits, and the numbers.
func (a argoRule) newMetric(r *rand.Rand) (map[string]any, []float64) {
	limit := pick(r, "0", "1", "0.05", "99.5", "1e3", "250")
	other := pick(r, "1001", "5e3")
	fill := strings.NewReplacer("LIMIT", limit, "OTHER", other)
	m := map[string]any{"name": "m", "provider": map[string]any{"prometheus": map[string]any{"query": a.query}}}
	for field, text := range map[string]string{"successCondition": a.success, "failureCondition": a.failure} {
		if text != "" {
			m[field] = fill.Replace(text)
		}
	}
	for _, field := range []string{"count", "failureLimit", "inconclusiveLimit", "consecutiveErrorLimit"} {
		if r.IntN(2) == 0 {
			m[field] = pick(r, any(r.IntN(6)), any(fmt.Sprint(r.IntN(3))))
		}
	}
	if r.IntN(4) > 0 {
		m["interval"] = pick(r, "1s", "30s", "5m")
	}
	var numbers []float64
	for _, text := range []string{limit, other} {
		var n float64
		fmt.Sscan(text, &n)
		numbers = append(numbers, n)
	}
	return m, numbers
}

// A conversion is a metric with all that is made of it.
type conversion struct {
	metric *argo.Metric
	checks []deploymentv1alpha1.Check
	notes  []string
	length int
}

// convert converts a metric. It returns an error for a metric that the command refuses.
func convert(t *testing.T, m map[string]any) (*conversion, error) {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AnalysisTemplate", "metadata": map[string]any{"name": "t"}, "spec": map[string]any{"metrics": []any{m}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := analysis.FromArgoRollouts([][]byte{text}, analysis.Options{})
	if err != nil {
		return nil, err
	}
	template := v1alpha1.AnalysisTemplate{}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	metric, err := argo.NewMetric(template.Spec.Metrics[0])
	if err != nil {
		t.Fatalf("Argo Rollouts refuses a metric that is converted: %v\n%s", err, text)
	}
	check := c.Checks[0]
	check.Default()
	return &conversion{metric: metric, checks: c.Checks, notes: c.Notes, length: int(*check.Count)*(int(*check.ConsecutiveErrorLimit)+1) + 2}, nil
}

// TestArgoRollouts converts metrics of Argo Rollouts. Each series of answers has the verdict of Argo Rollouts in a Gate, unless a note names a kind of answer
// that it has.
func TestArgoRollouts(t *testing.T) {
	for name, rule := range argoRules() {
		t.Run(name, func(t *testing.T) {
			var refusal error
			r, converted := newRandom(t, name), 0
			for range settingsOfRule * 20 {
				m, limits := rule.newMetric(r)
				c, err := convert(t, m)
				if err != nil {
					refusal = err
					continue
				}
				rule.compare(t, r, c, limits)
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

// compare judges series by both.
func (a argoRule) compare(t *testing.T, r *rand.Rand, c *conversion, limits []float64) {
	t.Helper()
	isScalar, noted := a.query == scalarQuery, notedKinds(c.notes)
	if hasNote(c.notes, analysis.DifferenceEachMeasurement+" is an error") {
		if v := c.metric.JudgeAnswers(allOfKind(evaluators.Value, c.length), isScalar); v != evaluators.Error {
			t.Errorf("\n%s\nA note says that each measurement is an error, and the verdict is %q", a.reason, v)
		}
		return
	}
	separate := hasNote(c.notes, analysis.DifferenceFailures+" counts")
	for range seriesOfRule / settingsOfRule {
		answers := newSeries(r, c.length, limits, a.kinds())
		there, here := c.metric.JudgeAnswers(answers, isScalar), judgeHere(t, c.checks, answers)
		if there != here && !hasKind(answers, noted) && !separate {
			t.Fatalf("\n%s\n%v: %q in Argo Rollouts, %q here, and the notes are %q\n%+v", a.reason, answers, there, here, c.notes, c.checks)
		}
	}
	for k := range noted {
		answers := allOfKind(k, c.length)
		if there, here := c.metric.JudgeAnswers(answers, isScalar), judgeHere(t, c.checks, answers); there == here {
			t.Errorf("\n%s\nA note names %q, and both verdicts about such a series are %q: %q\n%+v", a.reason, k, here, c.notes, c.checks)
		}
	}
}

// kinds returns the kinds of answers that the query of a rule can have.
func (a argoRule) kinds() []evaluators.Kind {
	out := []evaluators.Kind{
		evaluators.NotANumber, evaluators.PlusInfinity, evaluators.MinusInfinity, evaluators.Warning, evaluators.Redirect,
		evaluators.Unanswered, evaluators.RefusedQuery,
	}
	if a.query != scalarQuery {
		out = append(out, evaluators.NoData, evaluators.Histogram)
	}
	if a.query == severalSeries {
		out = append(out, evaluators.SeveralSeries)
	}
	return out
}

func judgeHere(t *testing.T, checks []deploymentv1alpha1.Check, answers []evaluators.Answer) evaluators.Verdict {
	t.Helper()
	v, err := ours.JudgeAnswers(checks, answers)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func hasNote(notes []string, text string) bool {
	for _, note := range notes {
		if strings.Contains(note, text) {
			return true
		}
	}
	return false
}
