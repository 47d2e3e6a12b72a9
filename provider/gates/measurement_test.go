package gates

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMeasure(t *testing.T) {
	ten := int64(10)
	strict := Criteria{Limit: atMost(0.5), MinSamples: 1}
	cases := map[string]struct {
		reason string
		c      Criteria
		a      Answer
		want   Measurement
	}{
		"Good": {reason: "A value on the good side passes.", c: strict, a: Answer{Values: []float64{0.5}}, want: Measurement{Outcome: Pass, Value: "0.5"}},
		"Bad": {
			reason: "One on the bad side fails.",
			c:      strict, a: Answer{Values: []float64{0.51}},
			want: Measurement{Outcome: Fail, Value: "0.51", Message: "the value is beyond the threshold"},
		},
		"Problem": {
			reason: "A server that does not answer is an error, whatever else it said.",
			c:      strict, a: Answer{Problem: "p", Values: []float64{0}}, want: Measurement{Outcome: Error, Message: "p"},
		},
		"Empty": {
			reason: "No data fails unless the check says otherwise.",
			c:      strict, want: Measurement{Outcome: Fail, Message: "the answer has no data, which fails"},
		},
		"EmptyUnknown": {
			reason: "A policy that we do not know fails.",
			c:      Criteria{NoData: "Whatever"}, want: Measurement{Outcome: Fail, Message: "the answer has no data, which fails"},
		},
		"EmptyPass": {
			reason: "No data passes where the check says so.",
			c:      Criteria{NoData: "Pass"}, want: Measurement{Outcome: Pass, Message: "the answer has no data"},
		},
		"EmptyUnclear": {
			reason: "An empty answer decides nothing if noData says Inconclusive.",
			c:      Criteria{NoData: "Inconclusive"}, want: Measurement{Outcome: Inconclusive, Message: "the answer has no data"},
		},
		"EmptyWait": {
			reason: "A check that waits for data goes on without.",
			c:      Criteria{NoData: "Wait"}, want: Measurement{Outcome: Waiting, Message: "the answer has no data"},
		},
		"NaNWait": {
			reason: "A check that waits for data takes 0/0 for missing data.",
			c:      Criteria{NoData: "Wait"}, a: Answer{Values: []float64{math.NaN()}},
			want: Measurement{Outcome: Waiting, Message: "the answer has no data"},
		},
		"EmptyEarly": {
			reason: "A young subject need not have data.",
			c:      Criteria{NoData: "Pass"}, a: Answer{Early: true}, want: Measurement{Outcome: Early, Message: "the answer has no data"},
		},
		"EarlyValue": {
			reason: "A measurement with a value is not early.",
			c:      strict, a: Answer{Early: true, Values: []float64{1}},
			want: Measurement{Outcome: Fail, Value: "1", Message: "the value is beyond the threshold"},
		},
		"NaN": {
			reason: "NaN, which is 0 divided by 0, counts as no data.",
			c:      strict, a: Answer{Values: []float64{math.NaN()}}, want: Measurement{Outcome: Fail, Message: "the answer has no data, which fails"},
		},
		"Infinite": {
			reason: "An infinite value has no good side.",
			c:      Criteria{Limit: atMost(math.Inf(1))}, a: Answer{Values: []float64{math.Inf(1)}},
			want: Measurement{Outcome: Fail, Value: "+Inf", Message: "the value is infinite, as of a service that cannot be scraped"},
		},
		"BelowAll": {
			reason: "A value of minus infinity has no good side.",
			c:      strict, a: Answer{Values: []float64{math.Inf(-1)}},
			want: Measurement{Outcome: Fail, Value: "-Inf", Message: "the value is infinite, as of a service that cannot be scraped"},
		},
		"Many": {
			reason: "An answer of several series is ambiguous.",
			c:      strict, a: Answer{Values: []float64{0, 0}},
			want: Measurement{Outcome: Error, Message: "the query gives several series: aggregate them to one"},
		},
		"Few": {
			reason: "A value from too few samples counts as missing data.",
			c:      Criteria{Limit: atMost(1), MinSamples: 11}, a: Answer{Values: []float64{0}, Samples: &ten},
			want: Measurement{Outcome: Fail, Message: "the value is made from fewer samples than minSamples, which fails"},
		},
		"Enough": {
			reason: "As many as are asked for are enough.",
			c:      Criteria{Limit: atMost(1), MinSamples: 10}, a: Answer{Values: []float64{0}, Samples: &ten},
			want: Measurement{Outcome: Pass, Value: "0"},
		},
		"Untold": {
			reason: "A server that does not report the number of samples is not believed.",
			c:      Criteria{Limit: atMost(1), MinSamples: 2}, a: Answer{Values: []float64{0}},
			want: Measurement{Outcome: Error, Message: "the server does not say how many samples the value is made from, which minSamples asks for"},
		},
		"NoLimit": {
			reason: "A value without a threshold is an error and does not pass.",
			a:      Answer{Values: []float64{0}},
			want:   Measurement{Outcome: Error, Value: "0", Message: "the check has no threshold to judge the value by"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.c.Measure(tc.a)); diff != "" {
				t.Errorf("%s\nMeasure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
