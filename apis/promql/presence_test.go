package promql

import (
	"testing"

	"github.com/intentplane/intentplane/apis/threshold"
)

// TestCanFail judges queries with thresholds that each of their values satisfies, so that an empty answer alone can fail.
func TestCanFail(t *testing.T) {
	cases := map[string]struct {
		reason, query, threshold, noData string
		want                             bool
	}{
		"Rate":         {reason: "A rate is asked for its value.", query: "sum(rate(a[5m]))", threshold: ">= 0"},
		"RateValue":    {reason: "A rate may be above a limit.", query: "sum(rate(a[5m]))", threshold: "<= 5", want: true},
		"Absent":       {reason: "An absence is empty while there is a series.", query: `absent(ALERTS{a="{{service}}"})`, threshold: "== 1", want: true},
		"AbsentWindow": {reason: "An absence over a window is empty while there is a sample.", query: "absent_over_time(a[5m])", threshold: "== 1", want: true},
		"Present":      {reason: "A presence is empty without a sample.", query: "present_over_time(a[5m])", threshold: "== 1", want: true},
		"Passes":       {reason: "An empty answer that passes fails nothing.", query: "absent(a)", threshold: "== 1", noData: "Pass"},
		"Waits":        {reason: "An empty answer that is waited for ends with the timeout.", query: "absent(a)", threshold: "== 1", noData: "Wait", want: true},
		"Filter":       {reason: "A comparison drops series.", query: "a <= 5", threshold: "<= 5", want: true},
		"Bool":         {reason: "A comparison with bool drops no series.", query: "a <= bool 5", threshold: "<= 1"},
		"BoolOf":       {reason: "A comparison of an absence is empty with it.", query: "absent(a) == bool 1", threshold: "<= 1", want: true},
		"Count":        {reason: "A count has no 0.", query: "(count by (b) (a))", threshold: ">= 1", want: true},
		"CountFilter":  {reason: "A sum of counts has no 0.", query: "sum(count by (b) (a == 1))", threshold: "> 0", want: true},
		"Group":        {reason: "A group is empty without a series.", query: "group(a == 1)", threshold: "== 1", want: true},
		"And":          {reason: "A condition drops series.", query: "vector(1) and on () a", threshold: "== 1", want: true},
		"Unless":       {reason: "An exception drops series.", query: "vector(1) unless on () a", threshold: ">= 1", want: true},
		"Or":           {reason: "Two filters may drop all series.", query: "(abs(a) > 1) or abs(b)", threshold: ">= 0", want: true},
		"OrNumber":     {reason: "A number replaces an empty answer.", query: "count(a) or vector(0)", threshold: ">= 0"},
		"OrTime":       {reason: "The clock replaces an empty answer.", query: "sum(abs(a) > 1) or on () vector(time())", threshold: ">= 0"},
		"Within":       {reason: "A number within an aggregation replaces an empty answer.", query: "-sum(count(a) or vector(0))", threshold: "<= 0"},
		"Subquery":     {reason: "A filter in a subquery leaves no sample.", query: "sum_over_time((abs(a) > 1)[5m:1m])", threshold: ">= 0", want: true},
		"Divided":      {reason: "A divided filter is empty with it.", query: "(abs(a) > 1) / abs(b)", threshold: ">= 0", want: true},
		"Divisor":      {reason: "A filter of a divisor is a guard.", query: "abs(a) / (abs(b) > 1)", threshold: ">= 0"},
		"PerTarget":    {reason: "A count that divides is a number of targets.", query: "abs(a) / count(b)", threshold: ">= 0"},
		"Inverse":      {reason: "A number is divided by a filter for nothing but its value.", query: "1 / (abs(a) > 1)", threshold: ">= 0", want: true},
		"Hours":        {reason: "A filter of the clock drops its number.", query: "hour() >= 9", threshold: ">= 9", want: true},
		"Constant":     {reason: "A filter of a constant reads no series.", query: "vector(1) > 0", threshold: "== 1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := Parse(tc.query)
			if err != nil {
				t.Fatalf("\n%s\nParse(%q): %v", tc.reason, tc.query, err)
			}
			limit, err := threshold.Parse(tc.threshold)
			if err != nil {
				t.Fatal(err)
			}
			if q.CanFail(limit, tc.noData) != tc.want {
				t.Errorf("\n%s\n%s: CanFail(%s, %q): want %v", tc.reason, tc.query, tc.threshold, tc.noData, tc.want)
			}
		})
	}
}
