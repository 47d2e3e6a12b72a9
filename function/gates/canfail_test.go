package gates

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestCompileRefusesWhatCannotFail compiles checks that no value can fail, and their neighbors that one can.
func TestCompileRefusesWhatCannotFail(t *testing.T) {
	query := func(threshold, query string) config {
		return config{Checks: []check{{
			Name: "own", Type: "Prometheus", Threshold: deploymentv1alpha1.Threshold(threshold), Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: query},
		}}}
	}
	web := func(threshold, expression string) config {
		return config{Checks: []check{{
			Name: "own", Type: "Web", Site: "edge1", Threshold: deploymentv1alpha1.Threshold(threshold),
			Web: &deploymentv1alpha1.WebCheck{URL: "https://status.example.org/x", Expression: expression},
		}}}
	}
	limits := func(count, failures int32) config {
		c := query("< 5", "x")
		c.Checks[0].Count, c.Checks[0].FailureLimit = &count, &failures
		return c
	}
	withoutData := func(noData string, c config) config {
		c.Checks[0].NoData = noData
		return c
	}
	script := func(text string) config {
		return config{Checks: []check{{Name: "own", Type: "Job", Site: "edge1", Job: &deploymentv1alpha1.JobCheck{Image: "curl:8", Script: text}}}}
	}
	post := func(text string) config {
		return config{PostCheck: &deploymentv1alpha1.PostCheck{Image: "curl:8", Script: text, Timeout: "1m"}}
	}
	withoutDataPasses := func(c config) config { return withoutData("Pass", c) }
	const prefix, end = "spec.gatesConfig.checks[0]: threshold: ", " holds for each value that can be measured, so that no revision fails the check: set a threshold that some values exceed"
	const scriptEnd = "cript: ends with 0 whatever its commands return, so that no revision fails the check: begin it with set -e, or exit 3 where it fails"
	cases := map[string]struct {
		reason string
		config config
		metric string
		want   string
	}{
		"NotNegative": {reason: "A rate is never below 0.", config: query(">= 0", "sum(rate(x[5m]))"), want: prefix + `">= 0"` + end},
		"NotNegativeOf": {
			reason: "A ratio of rates is never below 0.",
			config: query(">= 0.0", "sum(rate(x[5m])) / sum(rate(y[5m]))"), want: prefix + `">= 0"` + end,
		},
		"Positive":   {reason: "A rate may be 0.", config: query("> 0", "sum(rate(x[5m]))")},
		"Negative":   {reason: "A series may be below 0.", config: query(">= 0", "x")},
		"Complement": {reason: "One minus a ratio is never above one.", config: query("<= 1", "1 - rate(x[5m]) / rate(y[5m])"), want: prefix + `"<= 1"` + end},
		"Share": {
			reason: "Failed requests are never more than all requests.",
			config: query("<= 1", `sum(rate(x{code=~"5.."}[5m])) / sum(rate(x[5m]))`), want: prefix + `"<= 1"` + end,
		},
		"SharePercent": {
			reason: "A share in percent is never more than a hundred.",
			config: query("< 101", `100 * sum(rate(x{code=~"5.."}[5m])) / sum(rate(x[5m]))`), want: prefix + `"< 101"` + end,
		},
		"ShareAll":      {reason: "All requests may fail.", config: query("< 1", `sum(rate(x{code=~"5.."}[5m])) / sum(rate(x[5m]))`)},
		"ShareOther":    {reason: "Errors of another metric may be more than the requests.", config: query("<= 1", "sum(rate(x[5m])) / sum(rate(y[5m]))")},
		"Remainder":     {reason: "A remainder is smaller than the divisor.", config: query("<= 10", "x % 10"), want: prefix + `"<= 10"` + end},
		"Constant":      {reason: "A constant query measures nothing.", config: query("== 1", "vector(1)"), want: prefix + `"== 1"` + end},
		"ConstantOther": {reason: "A constant that fails each revision is the choice of its author.", config: query("== 2", "vector(1)")},
		"Bool":          {reason: "A comparison is never above 1.", config: query("<= 1", "x > bool 5"), want: prefix + `"<= 1"` + end},
		"BoolExact":     {reason: "A comparison may be 0.", config: query("== 1", "x > bool 5")},
		"Filtered":      {reason: "A filter leaves nothing where each value fails.", config: query("<= 5", "x <= 5")},
		"FilterPasses": {
			reason: "A filter whose empty answer passes cannot fail.",
			config: withoutDataPasses(query("<= 5", "x <= 5")), want: prefix + `"<= 5"` + end,
		},
		"FilterGuards": {
			reason: "A filter of a divisor guards against a division by zero.",
			config: query(">= 0", "rate(x[5m]) / (rate(y[5m]) > 0)"), want: prefix + `">= 0"` + end,
		},
		"FilterReplaced": {
			reason: "An empty answer that a number replaces does not fail.", config: query("<= 1", "absent(x) or vector(0)"), want: prefix + `"<= 1"` + end,
		},
		"Counted":       {reason: "A count of targets is empty without one.", config: query("> 0", `count(up{job="x"} == 1)`)},
		"CountedAll":    {reason: "A count of series is empty without one.", config: query(">= 1", `count(up{job="x"})`)},
		"CountedWaits":  {reason: "A count that waits for data runs into its timeout.", config: withoutData("Wait", query("> 0", `count(up{job="x"} == 1)`))},
		"CountedUnsure": {reason: "A count without data may be inconclusive.", config: withoutData("Inconclusive", query("> 0", `count(up{job="x"} == 1)`))},
		"Grouped":       {reason: "A group is empty without a series.", config: query("== 1", "group(up == 1)")},
		"Present":       {reason: "A presence is empty without a series.", config: query("== 1", "present_over_time(x[5m])")},
		"Unless":        {reason: "A number is left out while an alert fires.", config: query(">= 1", `vector(1) unless on() ALERTS{alertname="x"}`)},
		"AbsentAlert":   {reason: "An absence is empty while an alert fires.", config: query("== 1", `absent(ALERTS{alertname="x"})`)},
		"AbsentPasses": {
			reason: "An absence whose empty answer passes cannot fail.",
			config: withoutDataPasses(query("== 1", "absent(x)")), want: prefix + `"== 1"` + end,
		},
		"Clamped":        {reason: "A limit of the query is within the threshold.", config: query("< 11", "clamp_max(x, 10)"), want: prefix + `"< 11"` + end},
		"ClampedByOther": {reason: "A limit that is a series may have each value.", config: query(">= 0", "clamp_max(abs(a), scalar(b))")},
		"WebTrue":        {reason: "A constant expression reads no answer.", config: web("== 1", "true"), want: prefix + `"== 1"` + end},
		"WebOrTrue": {
			reason: "An alternative that holds decides, whatever the answer is.",
			config: web("== 1", "answer.errors >= 0 || true"), want: prefix + `"== 1"` + end,
		},
		"WebOpposites": {
			reason: "One of two opposite comparisons always holds.",
			config: web("== 1", "answer.errors < 5 || answer.errors >= 5"), want: prefix + `"== 1"` + end,
		},
		"WebConverted": {reason: "A converted size is not negative.", config: web(">= 0", "double(size(answer.a))"), want: prefix + `">= 0"` + end},
		"WebBool":      {reason: "True is 1 and false is 0, and both are at least 0.", config: web(">= 0", "answer.errors > 5"), want: prefix + `">= 0"` + end},
		"WebBoolExact": {reason: "An expression may be false.", config: web("== 1", "answer.errors > 5")},
		"WebSize":      {reason: "A size is never below 0.", config: web(">= 0", "size(answer.errors)"), want: prefix + `">= 0"` + end},
		"WebNull":      {reason: "An expression without data has no value that fails.", config: web("== 1", "dyn(null)"), want: prefix + `"== 1"` + end},
		"WebField":     {reason: "A field may have each value.", config: web(">= 0", "answer.errors")},
		"Objective": {
			reason: "The threshold of a metric is refused where it is declared.",
			config: config{SLOThresholds: thresholds{"availability": "0"}}, metric: `100 * avg(abs(up{app="{{service}}"}))`,
			want: `spec.gatesConfig.sloThresholds.availability: ">= 0%"` + end,
		},
		"ScriptEcho": {
			reason: "A script whose last command is echo ignores its other commands.", config: script("curl -sf http://shop\necho done"),
			want: "spec.gatesConfig.checks[0]: job.s" + scriptEnd,
		},
		"ScriptError": {reason: "A script that ends at its first error may fail.", config: script("set -e\ncurl -sf http://shop\necho done")},
		"ScriptExit":  {reason: "A script with an exit code of its own may fail.", config: script("curl -sf http://shop || exit 3\nexit 0")},
		"PostCheckTrue": {
			reason: "A post check is a script too.", config: post("curl -sf http://shop || true"), want: "spec.gatesConfig.postCheck: s" + scriptEnd,
		},
		"PostCheckProgram": {reason: "A program of a post check may fail.", config: post("curl -sf http://shop")},
		"AllMayFail":       {reason: "A limit of count ends a Gate while it is watching, and one measurement has to pass.", config: limits(3, 3)},
		"MoreMayFail":      {reason: "A limit above count ends a Gate while it is watching.", config: limits(3, 10)},
		"MostMayFail":      {reason: "A limit below count ends the check.", config: limits(3, 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := newInput(tc.config, newPlace("edge1"))
			if tc.metric != "" {
				in.Blueprint.Spec.Metrics = []catalogv1alpha1.BlueprintMetric{{Name: "availability", Query: tc.metric, Unit: "%", Direction: catalogv1alpha1.DirectionAtLeast}}
			}
			got := ""
			if _, err := NewCompiler(1 << 20).Compile(in); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCompile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
