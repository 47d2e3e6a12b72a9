package analysis

import (
	"math"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
)

// A sample is an answer of a metrics server which a check and a metric of Argo Rollouts may judge differently.
type sample struct {
	difference string
	values     []float64
}

// edgeCaseSamples returns the answers of at most one series that a query can have beside a finite value.
func edgeCaseSamples(isScalar bool) []sample {
	out := []sample{
		{difference: DifferenceNotANumber, values: []float64{math.NaN()}},
		{difference: DifferencePlusInfinity, values: []float64{math.Inf(1)}},
		{difference: DifferenceMinusInfinity, values: []float64{math.Inf(-1)}},
	}
	if isScalar {
		return out
	}
	return append([]sample{{difference: DifferenceNoData}}, out...)
}

// outcomeHere returns the outcome of a check.
func (s sample) outcomeHere(c condition.Condition) condition.Outcome {
	if (len(s.values) == 0 || math.IsNaN(s.values[0])) && c.NoData == condition.NoDataPass {
		return condition.Passes
	}
	return condition.Fails
}

// noteQueryVerdicts adds a note about the answers of a query that Argo Rollouts judges differently. It waits for some seconds for an answer.
func (c *converter) noteQueryVerdicts(path string, conditions condition.Condition, check deploymentv1alpha1.Check, waitSeconds int64) {
	query, err := promql.Parse(check.Prometheus.Query)
	if err != nil {
		return // The query is refused.
	}
	n := verdictNote{judge: judgeArgo}
	if !conditions.FitsResult(query.IsScalar()) {
		n.addDifferenceText(DifferenceEachMeasurement, "is an error in Argo Rollouts: result is a list where the query gives series, and else a number")
		c.noteDifferences(path, n)
		return
	}
	for _, s := range edgeCaseSamples(query.IsScalar()) {
		n.addDifference(s.difference, s.outcomeHere(conditions), conditions.OutcomeOf(s.values))
	}
	if !query.GivesOneSeries() {
		n.addDifferenceText(DifferenceSeveralSeries, "is an error, and Argo Rollouts judges the first")
	}
	if !query.IsScalar() {
		n.addDifference(DifferenceHistogram, condition.IsError, conditions.OutcomeOf([]float64{0}))
	}
	n.addServerAnswers()
	n.addUnanswered(condition.IsError, waitSeconds)
	n.addFailures(conditions.Bounds, check)
	c.noteDifferences(path, n)
}
