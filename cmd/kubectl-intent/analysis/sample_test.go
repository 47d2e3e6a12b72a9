package analysis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotes converts metrics of Argo Rollouts, and compares the differences that their notes name.
func TestNotes(t *testing.T) {
	const warned = DifferenceWarning + " is an error, or does not count, and Argo Rollouts judges it; " +
		DifferenceRedirect + " does not count, and Argo Rollouts follows it; " + DifferenceMethod + " does not count, and Argo Rollouts asks it with GET; " +
		DifferenceLarge + " is an error, and Argo Rollouts judges it"
	const unanswered = DifferenceUnanswered + " within 10 seconds does not count, and is an error in Argo Rollouts after "
	const scalarServer = warned + "; " + unanswered + "30 seconds"
	const zeroPasses = DifferenceHistogram + " is an error, and passes in Argo Rollouts; " + scalarServer
	const zeroFails = DifferenceHistogram + " is an error, and fails in Argo Rollouts; " + scalarServer
	const error1, plus, minus = DifferenceNoData + " fails, and is an error in Argo Rollouts", DifferencePlusInfinity + " fails, and passes in Argo Rollouts", DifferenceMinusInfinity + " fails, and passes in Argo Rollouts"
	const eachMeasurement = DifferenceEachMeasurement + " is an error in Argo Rollouts: result is a list where the query gives series, and else a number"
	cases := map[string]struct {
		reason, metric string
		want           []string
	}{
		"Success": {
			reason: "An answer without series has no first element.",
			metric: "successCondition: result[0] < 5", want: []string{error1, minus, zeroPasses},
		},
		"AtLeast": {reason: "An infinite value may pass.", metric: "successCondition: result[0] >= 0.95", want: []string{error1, plus, zeroFails}},
		"Equal":   {reason: "No infinite value is equal to a number.", metric: "successCondition: result[0] == 1", want: []string{error1, zeroFails}},
		"Failure": {
			reason: "A value that no comparison holds for does not fail.",
			metric: "failureCondition: result[0] > 5",
			want:   []string{error1, DifferenceNotANumber + " fails, and passes in Argo Rollouts", minus, zeroPasses},
		},
		"Both": {
			reason: "A value that no comparison holds for is inconclusive.",
			metric: "successCondition: result[0] < 5\n    failureCondition: result[0] >= 5",
			want:   []string{error1, DifferenceNotANumber + " fails, and is inconclusive in Argo Rollouts", minus, zeroPasses},
		},
		"GuardedFirst": {
			reason: "A guard that demands data fails without it.",
			metric: "successCondition: len(result) > 0 && result[0] < 5", want: []string{minus, zeroPasses},
		},
		"GuardedBehind": {
			reason: "A guard behind the comparison comes too late.",
			metric: "successCondition: result[0] < 5 && len(result) > 0", want: []string{error1, minus, zeroPasses},
		},
		"NoData": {
			reason: "A guard that accepts an answer without series accepts no value that is not a number.",
			metric: "successCondition: len(result) == 0 || result[0] < 5",
			want:   []string{DifferenceNotANumber + " passes, and fails in Argo Rollouts", minus, zeroPasses},
		},
		"NaN": {
			reason: "A guard that accepts such a value does not accept an answer without series.",
			metric: "successCondition: isNaN(result[0]) || result[0] < 5",
			want:   []string{DifferenceNoData + " passes, and is an error in Argo Rollouts", minus, zeroPasses},
		},
		"EitherMissing": {
			reason: "Two guards accept missing data, as the check does.",
			metric: "successCondition: len(result) == 0 || isNaN(result[0]) || result[0] < 5", want: []string{minus, zeroPasses},
		},
		"BothGuards": {
			reason: "Two guards demand data, as the check does.",
			metric: "successCondition: len(result) > 0 && !isNaN(result[0]) && result[0] < 5", want: []string{minus, zeroPasses},
		},
		"Number": {reason: "A list is not compared with a number.", metric: "successCondition: result < 5", want: []string{eachMeasurement}},
		"Element": {
			reason: "A number has no elements.",
			metric: "successCondition: result[0] < 5\n    provider: {prometheus: {query: 'scalar(x)'}}", want: []string{eachMeasurement},
		},
		"Scalar": {
			reason: "A number is always there.",
			metric: "successCondition: result < 5\n    provider: {prometheus: {query: 'scalar(x)'}}", want: []string{minus, scalarServer},
		},
		"Timeout": {
			reason: "A timeout says how long Argo Rollouts waits.",
			metric: "successCondition: result < 5\n    provider: {prometheus: {query: 'scalar(x)', timeout: 5}}",
			want:   []string{minus, warned, unanswered + "5 seconds"},
		},
		"Series": {
			reason: "A query may give several series.",
			metric: "successCondition: result[0] == 5\n    provider: {prometheus: {query: 'x'}}",
			want:   []string{error1, DifferenceSeveralSeries + " is an error, and Argo Rollouts judges the first", zeroFails},
		},
		"Limit": {
			reason: "Two checks have two limits.", metric: "count: 3\n    interval: 1m\n    failureLimit: 1\n    successCondition: result[0] > 1 && result[0] < 5",
			want: []string{error1, zeroFails, DifferenceFailures + " counts against failureLimit of its own bound, and in Argo Rollouts against one for both"},
		},
		"Web": {
			reason: "An answer that is not JSON is not judged in Argo Rollouts.", metric: "successCondition: result < 5\n    provider: {web: {url: 'https://a'}}",
			want: []string{
				DifferenceNotJSON + " is an error, and passes in Argo Rollouts", DifferenceNotSaidJSON + " is an error, and Argo Rollouts judges it",
				DifferenceRedirect + " is an error, and Argo Rollouts follows it", DifferenceLarge + " is an error, and Argo Rollouts judges it",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := FromArgoRollouts([][]byte{[]byte(metric(tc.metric))}, Options{})
			if err != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): %v", tc.reason, err)
			}
			want := []string{"ClusterAnalysisTemplate t: spec.metrics[0]: the check judges differently: " + strings.Join(tc.want, "; ")}
			if diff := cmp.Diff(want, c.Notes); diff != "" {
				t.Errorf("\n%s\nNotes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
