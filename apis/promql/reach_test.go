package promql

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReachOf(t *testing.T) {
	const tooFar = "has a window and offsets of more than 24h: the measured revision would have to be live for as long before the first query"
	cases := map[string]struct {
		reason string
		query  string
		want   Reach
		err    string
	}{
		"Number":           {reason: "A number does not look at any sample.", query: "1", want: Reach{}},
		"Latest":           {reason: "A selector takes the latest sample.", query: "up", want: Reach{Latest: true}},
		"Offset":           {reason: "An offset reaches further back.", query: "up offset 3m", want: Reach{Latest: true, Offset: 3 * time.Minute}},
		"Ahead":            {reason: "An offset into the future does not bring another selector nearer.", query: "up offset -3m", want: Reach{Latest: true}},
		"Window":           {reason: "A range is all that is looked at.", query: "rate(a[1m])", want: Reach{Windows: time.Minute}},
		"WindowWithOffset": {reason: "A window may begin in the past.", query: "rate(a[1m] offset 2m)", want: Reach{Windows: 3 * time.Minute}},
		"Longest":          {reason: "The longest of several windows counts.", query: "rate(a[1m]) / rate(b[5m])", want: Reach{Windows: 5 * time.Minute}},
		"Subquery":         {reason: "Windows in a subquery begin before it.", query: "max_over_time(rate(a[1m])[10m:30s])", want: Reach{Windows: 11 * time.Minute}},
		"SubqueryLatest": {
			reason: "The search for the latest sample begins before a subquery too.",
			query:  "max_over_time(a[10m:30s])", want: Reach{Latest: true, Offset: 10 * time.Minute},
		},
		"SubqueryOffset": {
			reason: "A subquery has an offset of its own.",
			query:  "max_over_time(rate(a[1m] offset 1m)[10m:30s] offset 5m)", want: Reach{Windows: 17 * time.Minute},
		},
		"Both": {
			reason: "A query may have a window and a plain selector.",
			query:  "a / rate(b[2m])", want: Reach{Windows: 2 * time.Minute, Latest: true},
		},
		"Fixed": {
			reason: "A query at a fixed time is refused.",
			query:  "up @ 1600000000", err: "selects a fixed time, which may be before the measured revision went live",
		},
		"FixedSubquery": {
			reason: "A subquery at a fixed time is refused.",
			query:  "max_over_time(a[1m:10s] @ 1600000000)", err: "selects a fixed time, which may be before the measured revision went live",
		},
		"Start": {
			reason: "A time that is said in words is fixed too.",
			query:  "up @ start()", err: "selects a fixed time, which may be before the measured revision went live",
		},
		"StartSubquery": {
			reason: "A subquery at the start of the evaluation is at a fixed time too.",
			query:  "max_over_time(a[1m:10s] @ start())", err: "selects a fixed time, which may be before the measured revision went live",
		},
		"EndSubquery": {
			reason: "A subquery at the end of the evaluation is at a fixed time too.",
			query:  "max_over_time(a[1m:10s] @ end())", err: "selects a fixed time, which may be before the measured revision went live",
		},
		"Day":        {reason: "A day is as long as a check may take.", query: "rate(a[12h] offset 12h)", want: Reach{Windows: 24 * time.Hour}},
		"Month":      {reason: "A query that looks back for a month is refused.", query: "rate(x[30d])", err: tooFar},
		"Years":      {reason: "A query that looks back for years is refused.", query: "up offset 10y", err: tooFar},
		"YearsAhead": {reason: "A query that looks years ahead is refused.", query: "up offset -10y", err: tooFar},
		"Together":   {reason: "The ranges of a subquery and of its inner query are added up.", query: "max_over_time(rate(a[1h])[24h:1h])", err: tooFar},
		"Overflow":   {reason: "A number that turns around is not less.", query: "max_over_time(rate(a[290y])[290y:1y])", err: tooFar},
		"Matrix":     {reason: "Many values at many times are not judged.", query: "a[5m]", err: "gives a range vector, which has no value at one time"},
		"String":     {reason: "A query that gives a text is refused.", query: `"a"`, err: "gives a string, which has no value at one time"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ReachOf(tc.query)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Fatalf("%s\nReachOf(%q): -want error, +got error:\n%s", tc.reason, tc.query, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" && err == nil {
				t.Errorf("%s\nReachOf(%q): -want, +got:\n%s", tc.reason, tc.query, diff)
			}
		})
	}
}

func TestLead(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		want   time.Duration
	}{
		"Window":   {reason: "A window lies behind the time that the subject went live.", query: "sum(rate(x[5m]))", want: 5*time.Minute + time.Second},
		"Latest":   {reason: "A query for the latest sample lets the server look back for five seconds.", query: "x", want: 6 * time.Second},
		"Offset":   {reason: "The data of an offset has to be there before the evaluation.", query: "x offset 1m", want: 66 * time.Second},
		"Longest":  {reason: "Of a window and a latest sample the longer one counts.", query: "sum(rate(x[10s])) + sum(x offset 1m)", want: 66 * time.Second},
		"Constant": {reason: "A constant looks at nothing.", query: "1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reach, err := ReachOf(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := reach.Lead(); got != tc.want {
				t.Errorf("%s\nLead(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
