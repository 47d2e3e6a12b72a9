package evaluators_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	flaggerv1 "github.com/fluxcd/flagger/pkg/apis/flagger/v1beta1"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis"
	"github.com/intentplane/intentplane/tools/evaluators"
	"github.com/intentplane/intentplane/tools/evaluators/flagger"
)

// A flaggerRule is a form of a metric of a Canary.
type flaggerRule struct {
	reason, query string
	limits        map[string]any
	isAB          bool

	// weights are fields of the analysis in the place of iterations. provider is the provider of the Canary, or empty.
	weights  map[string]any
	provider string

	// failures says that Flagger goes on after a failed check.
	failures bool
}

func flaggerRules() map[string]flaggerRule {
	minimum, maximum, both := map[string]any{"min": 1.5}, map[string]any{"max": 100}, map[string]any{"min": 1, "max": 99.5}
	return map[string]flaggerRule{
		"Min":          {reason: "A lower limit includes itself.", query: oneSeries, limits: minimum},
		"Max":          {reason: "An upper limit includes itself.", query: oneSeries, limits: maximum},
		"Both":         {reason: "Both limits decide.", query: oneSeries, limits: both},
		"AB":           {reason: "An A/B test has one measurement less.", query: oneSeries, limits: maximum, isAB: true},
		"Several":      {reason: "The last of several series is compared.", query: severalSeries, limits: minimum},
		"Scalar":       {reason: "Flagger reads no numbers that are not series.", query: scalarQuery, limits: maximum},
		"Failures":     {reason: "Some checks may fail.", query: oneSeries, limits: maximum, failures: true},
		"FailuresMin":  {reason: "Some checks may fail below a limit.", query: oneSeries, limits: minimum, failures: true},
		"FailuresBoth": {reason: "Some checks may fail at either limit.", query: oneSeries, limits: both, failures: true},
		"FailuresAB":   {reason: "Some checks of an A/B test may fail.", query: oneSeries, limits: maximum, failures: true, isAB: true},

		"Weights":     {reason: "The weight rises to its end.", query: oneSeries, limits: maximum, weights: map[string]any{"stepWeight": 20}},
		"WeightsMax":  {reason: "The weight rises to a maximum.", query: oneSeries, limits: minimum, weights: map[string]any{"stepWeight": 20, "maxWeight": 50}},
		"WeightsList": {reason: "The weights are listed.", query: oneSeries, limits: both, weights: map[string]any{"stepWeights": []int{1, 2, 10, 80}}},
		"WeightsBoth": {
			reason: "A list ends the steps.",
			query:  oneSeries, limits: maximum, weights: map[string]any{"stepWeight": 25, "stepWeights": []int{5, 50}},
		},
		"WeightsMirrored": {reason: "Requests are mirrored first.", query: oneSeries, limits: maximum, weights: map[string]any{"stepWeight": 50, "mirror": true}},
		"WeightsFailures": {
			reason: "Some checks may fail while the weight rises.",
			query:  oneSeries, limits: maximum, failures: true, weights: map[string]any{"stepWeight": 10},
		},
		"WeightsMatch": {
			reason: "A match without iterations selects requests while the weight rises.",
			query:  oneSeries, limits: maximum, isAB: true, weights: map[string]any{"stepWeight": 50},
		},
		"NoMesh": {
			reason: "Without a mesh, no weight rises.",
			query:  oneSeries, limits: maximum, weights: map[string]any{"stepWeight": 50}, provider: "kubernetes",
		},
		"NoMeshAB": {reason: "Without a mesh, no request is matched.", query: oneSeries, limits: maximum, isAB: true, provider: "kubernetes"},
	}
}

// A flaggerConversion is a Canary with its template and all that is made of them.
type flaggerConversion struct {
	canary   flaggerv1.Canary
	template flaggerv1.MetricTemplate
	checks   []deploymentv1alpha1.Check
	notes    []string
	length   int
}

// convert converts a Canary with random limits.
func (f flaggerRule) convert(t *testing.T, r *rand.Rand) *flaggerConversion {
	t.Helper()
	threshold, iterations := pick(r, 0, 1), 1+r.IntN(5)
	if f.failures {
		threshold = 2 + r.IntN(3)
	}
	body := map[string]any{
		"interval": "1m", "threshold": threshold, "iterations": iterations,
		"metrics": []any{map[string]any{"name": "m", "interval": "1m", "templateRef": map[string]any{"name": "m"}, "thresholdRange": f.limits}},
	}
	if f.weights != nil {
		delete(body, "iterations")
		iterations = 10
		maps.Copy(body, f.weights)
	}
	if f.isAB {
		body["match"] = []any{map[string]any{"headers": map[string]any{"x": map[string]any{"exact": "y"}}}}
	}
	template := document(t, "MetricTemplate", map[string]any{"provider": map[string]any{"type": "prometheus", "address": "https://prometheus.example.org"}, "query": f.query})
	spec := map[string]any{"analysis": body}
	if f.provider != "" {
		spec["provider"] = f.provider
	}
	canary := document(t, "Canary", spec)
	c, err := analysis.FromFlagger([][]byte{template, canary}, analysis.Options{})
	if err != nil {
		t.Fatalf("\n%s\nFromFlagger(...): %v", f.reason, err)
	}
	out := &flaggerConversion{checks: c.Checks, notes: c.Notes, length: 2 * (threshold + iterations + 6)}
	for text, target := range map[string]any{string(template): &out.template, string(canary): &out.canary} {
		if err := yaml.Unmarshal([]byte(text), target); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func document(t *testing.T, kind string, spec map[string]any) []byte {
	t.Helper()
	out, err := yaml.Marshal(map[string]any{"apiVersion": "flagger.app/v1beta1", "kind": kind, "metadata": map[string]any{"name": "m", "namespace": "a"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFlagger converts metrics of Flagger. Each series of answers has the verdict of Flagger in a Gate, unless a note names a kind of answer that it has.
func TestFlagger(t *testing.T) {
	for name, rule := range flaggerRules() {
		t.Run(name, func(t *testing.T) {
			r := newRandom(t, name)
			for range settingsOfRule {
				rule.compare(t, r, rule.convert(t, r))
			}
		})
	}
}

func (f flaggerRule) compare(t *testing.T, r *rand.Rand, c *flaggerConversion) {
	t.Helper()
	if hasNote(c.notes, analysis.DifferenceEachMeasurement+" fails") {
		return
	}
	noted, limits := notedKinds(c.notes), []float64{1, 1.5, 99.5, 100}
	if hasNote(c.notes, analysis.DifferenceFailures) != f.failures {
		t.Fatalf("\n%s\nfailures: %v, and the notes are %q", f.reason, f.failures, c.notes)
	}
	kinds := evaluators.Kinds()
	if f.query == oneSeries {
		kinds = evaluatorsWithout(kinds, evaluators.SeveralSeries)
	}
	for range seriesOfRule / settingsOfRule {
		answers := newSeries(r, c.length, limits, kinds)
		there, here := flagger.Judge(&c.canary, &c.template, answers), judgeHere(t, c.checks, answers)
		if there != here && !hasKind(answers, noted) && !f.mayDiffer(there, here) {
			t.Fatalf("\n%s\n%v: %q in Flagger, %q here, and the notes are %q\n%+v", f.reason, answers, there, here, c.notes, c.checks)
		}
	}
	for k := range noted {
		answers := allOfKind(k, c.length)
		if there, here := flagger.Judge(&c.canary, &c.template, answers), judgeHere(t, c.checks, answers); there == here {
			t.Errorf("\n%s\nA note names %q, and both verdicts about such a series are %q", f.reason, k, here)
		}
	}
}

// mayDiffer reports whether two verdicts may differ where some checks may fail: a check takes more measurements. It passes no revision that Flagger rejects,
// unless it has two bounds, each of which has failures of its own.
func (f flaggerRule) mayDiffer(there, here evaluators.Verdict) bool {
	return f.failures && (len(f.limits) > 1 || there != evaluators.Failed || here != evaluators.Passed)
}

func evaluatorsWithout(kinds []evaluators.Kind, excluded evaluators.Kind) []evaluators.Kind {
	var out []evaluators.Kind
	for _, k := range kinds {
		if k != excluded {
			out = append(out, k)
		}
	}
	return out
}
