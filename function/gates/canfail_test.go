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
	const own, end = "spec.gatesConfig.checks[0]: threshold: ", " holds for each value that can be measured, so that no revision fails the check: set a threshold that some values exceed"
	cases := map[string]struct {
		reason string
		config config
		metric string
		want   string
	}{
		"NotNegative":   {reason: "A rate is never below 0.", config: query(">= 0", "sum(rate(x[5m]))"), want: own + `">= 0"` + end},
		"NotNegativeOf": {reason: "A ratio of rates is never below 0.", config: query(">= 0.0", "sum(rate(x[5m])) / sum(rate(y[5m]))"), want: own + `">= 0"` + end},
		"Positive":      {reason: "A rate may be 0.", config: query("> 0", "sum(rate(x[5m]))")},
		"Negative":      {reason: "A series may be below 0.", config: query(">= 0", "x")},
		"Complement":    {reason: "One minus a ratio is never above one.", config: query("<= 1", "1 - rate(x[5m]) / rate(y[5m])"), want: own + `"<= 1"` + end},
		"Constant":      {reason: "A constant query measures nothing.", config: query("== 1", "vector(1)"), want: own + `"== 1"` + end},
		"ConstantOther": {reason: "A constant that fails each revision is the choice of its author.", config: query("== 2", "vector(1)")},
		"Bool":          {reason: "A comparison is never above 1.", config: query("<= 1", "x > bool 5"), want: own + `"<= 1"` + end},
		"BoolExact":     {reason: "A comparison may be 0.", config: query("== 1", "x > bool 5")},
		"Filtered":      {reason: "A filter keeps just the values that pass.", config: query("<= 5", "x <= 5"), want: own + `"<= 5"` + end},
		"Clamped":       {reason: "A limit of the query is within the threshold.", config: query("< 11", "clamp_max(x, 10)"), want: own + `"< 11"` + end},
		"Absent":        {reason: "An absence is 1, or no data.", config: query(">= 1", "absent(x)"), want: own + `">= 1"` + end},
		"WebTrue":       {reason: "A constant expression reads no answer.", config: web("== 1", "true"), want: own + `"== 1"` + end},
		"WebOrTrue":     {reason: "An alternative that holds decides, whatever the answer is.", config: web("== 1", "answer.errors >= 0 || true"), want: own + `"== 1"` + end},
		"WebBool":       {reason: "True is 1 and false is 0, and both are at least 0.", config: web(">= 0", "answer.errors > 5"), want: own + `">= 0"` + end},
		"WebBoolExact":  {reason: "An expression may be false.", config: web("== 1", "answer.errors > 5")},
		"WebSize":       {reason: "A size is never below 0.", config: web(">= 0", "size(answer.errors)"), want: own + `">= 0"` + end},
		"WebNull":       {reason: "An expression without data has no value that fails.", config: web("== 1", "dyn(null)"), want: own + `"== 1"` + end},
		"WebField":      {reason: "A field may have each value.", config: web(">= 0", "answer.errors")},
		"Objective": {
			reason: "The threshold of a metric is refused where it is declared.", config: config{SLOThresholds: thresholds{"availability": "0"}}, metric: `100 * avg(abs(up{app="{{service}}"}))`,
			want: `spec.gatesConfig.sloThresholds.availability: ">= 0%"` + end,
		},
		"AllMayFail": {
			reason: "A limit that lets all measurements fail judges nothing.", config: limits(3, 3),
			want: "spec.gatesConfig.checks[0]: failureLimit: 3 of 3 measurements may fail, so that none has to pass: it must be less than count",
		},
		"MostMayFail": {reason: "A limit that lets all measurements but one fail judges one.", config: limits(3, 2)},
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
