package analysis

import (
	"fmt"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
)

// Differences between the verdicts of a check and of its source metric, as notes name them.
const (
	// DifferenceNoData is the difference for a measurement without series.
	DifferenceNoData = "a measurement without data"

	// DifferenceNotANumber is the difference for NaN.
	DifferenceNotANumber = "a value that is not a number"

	// DifferencePlusInfinity and DifferenceMinusInfinity are the differences for infinite values.
	DifferencePlusInfinity  = "the value +Inf"
	DifferenceMinusInfinity = "the value -Inf"

	// DifferenceSeveralSeries is the difference for an answer with more than one series.
	DifferenceSeveralSeries = "an answer of several series"

	// DifferenceWarning is the difference for an answer with a warning, about the query or about a part of the server that did not answer.
	DifferenceWarning = "an answer with a warning"

	// DifferenceRedirect is the difference for a server that redirects.
	DifferenceRedirect = "an answer that redirects"

	// DifferenceMethod is the difference for a metrics server, or a proxy before it, that is asked with GET alone.
	DifferenceMethod = "a server that refuses POST"

	// DifferenceLarge is the difference for an answer that a check does not read.
	DifferenceLarge = "an answer of more than 1 MiB"

	// DifferenceHistogram is the difference for a series whose value is a histogram.
	DifferenceHistogram = "a histogram"

	// DifferenceUnanswered is the difference for a server that does not answer.
	DifferenceUnanswered = "a question that the server does not answer"

	// DifferenceRefusedQuery is the difference for a server that refuses the query.
	DifferenceRefusedQuery = "a query that the server refuses"

	// DifferenceNotJSON is the difference for a web server whose answer is not JSON.
	DifferenceNotJSON = "an answer that is not JSON"

	// DifferenceNotSaidJSON is the difference for a web server whose answer has another type or another status.
	DifferenceNotSaidJSON = "an answer of another status than 200, or of another type than JSON"

	// DifferenceElement is the difference for an index whose list is a text.
	DifferenceElement = "an element of a text"

	// DifferenceEachMeasurement is the difference for a metric that its own judge can never evaluate.
	DifferenceEachMeasurement = "each measurement"

	// DifferenceFailures is the difference for limits of failed measurements.
	DifferenceFailures = "a failed measurement"
)

// Judges whose metrics are converted.
const (
	judgeArgo    = "Argo Rollouts"
	judgeFlagger = "Flagger"
)

// doesNotCount is the outcome of a measurement that counts neither as passed nor as failed.
const doesNotCount condition.Outcome = "does not count"

// A verdictNote collects the differences of one metric.
type verdictNote struct {
	judge string
	parts []string
}

// addDifference adds a difference, unless the outcomes are equal.
func (n *verdictNote) addDifference(difference string, checkOutcome, judgeOutcome condition.Outcome) {
	if checkOutcome != judgeOutcome {
		n.parts = append(n.parts, fmt.Sprintf("%s %s, and %s in %s", difference, checkOutcome, judgeOutcome, n.judge))
	}
}

// addDifferenceText adds a difference that is not one of outcomes.
func (n *verdictNote) addDifferenceText(difference, text string) {
	n.parts = append(n.parts, difference+" "+text)
}

// addServerAnswers adds the differences of answers that the source judge judges whatever their form: it ignores a warning, and follows a redirect.
func (n *verdictNote) addServerAnswers() {
	n.addDifferenceText(DifferenceWarning, "is an error, or does not count, and "+n.judge+" judges it")
	n.addDifferenceText(DifferenceRedirect, "does not count, and "+n.judge+" follows it")
	n.addDifferenceText(DifferenceMethod, "does not count, and "+n.judge+" asks it with GET")
	n.addDifferenceText(DifferenceLarge, "is an error, and "+n.judge+" judges it")
}

// addUnanswered adds the difference of a server that is slow, or gives no answer. The outcome is the outcome in the source judge after some seconds.
func (n *verdictNote) addUnanswered(outcome condition.Outcome, seconds int64) {
	text := fmt.Sprintf("within %d seconds %s, and %s in %s after %d seconds", longestAnswerSeconds, doesNotCount, outcome, n.judge, seconds)
	n.addDifferenceText(DifferenceUnanswered, text)
}

// addFailures adds the difference of checks that a metric with several bounds becomes.
func (n *verdictNote) addFailures(bounds []condition.Bound, check deploymentv1alpha1.Check) {
	if len(bounds) > 1 && check.FailureLimit != nil && *check.FailureLimit > 0 {
		n.addDifferenceText(DifferenceFailures, "counts against failureLimit of its own bound, and in "+n.judge+" against one for both")
	}
}

// noteDifferences adds a note about the verdicts of a metric.
func (c *converter) noteDifferences(field string, n verdictNote) {
	if len(n.parts) > 0 {
		c.addNotef(field, "the check judges differently: %s", strings.Join(n.parts, "; "))
	}
}
