package gates

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

type rules = deploymentv1alpha1.MetricRules

// blueprintRules returns rules that a Blueprint declares.
func blueprintRules() rules {
	return rules{InitialDelay: "6m", FailureLimit: new(int32(1)), ConsecutiveErrorLimit: new(int32(2)), NoData: "Wait", Timeout: "15m"}
}

func TestCompileRules(t *testing.T) {
	const metric = `availability@edge1 Prometheus >= 99% unit="%" up{app="shop"}`
	cases := map[string]struct {
		reason          string
		blueprint, said rules
		want            string
	}{
		"Neither": {reason: "A metric without rules is judged by the defaults of a check.", want: " 30s+3*30s<5m 0,4,0 min=1 Fail"},
		"Blueprint": {
			reason:    "The rules of the Blueprint take the place of the defaults of a check.",
			blueprint: blueprintRules(), want: " 6m+3*30s<15m 1,2,0 min=1 Wait",
		},
		"Said": {
			reason: "Each rule that the deployment says takes the place of the Blueprint's.", blueprint: blueprintRules(),
			said: rules{
				InitialDelay: "7m", Interval: "10s", Count: new(int32(5)), FailureLimit: new(int32(0)), ConsecutiveErrorLimit: new(int32(9)),
				NoData: "Fail", Timeout: "20m",
			},
			want: " 7m+5*10s<20m 0,9,0 min=1 Fail",
		},
		"Some": {
			reason:    "The rules that the deployment does not say stay the Blueprint's.",
			blueprint: blueprintRules(), said: rules{Count: new(int32(4))}, want: " 6m+4*30s<15m 1,2,0 min=1 Wait",
		},
		"Inconclusive": {
			reason: "How many measurements may be inconclusive can be said too.", said: rules{NoData: "Inconclusive", InconclusiveLimit: new(int32(2))},
			want: " 30s+3*30s<5m 0,4,2 min=1 Inconclusive",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := newInput(config{SLOThresholds: thresholds{"availability": "99"}, MetricRules: map[string]rules{"availability": tc.said}}, newPlace("edge1"))
			in.Blueprint.Spec.Metrics[1].MetricRules = tc.blueprint
			checks, err := NewCompiler(1 << 20).Compile(in)
			if err != nil || len(checks) != 1 {
				t.Fatalf("\n%s\nCompile(...): %d checks, %v", tc.reason, len(checks), err)
			}
			if diff := cmp.Diff(metric+tc.want, describeCheck(checks[0])); diff != "" {
				t.Errorf("\n%s\nCompile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompileRefusesRules(t *testing.T) {
	cases := map[string]struct {
		reason string
		metric string
		rules  rules
		bounds *configv1alpha1.MetricRuleBounds
		want   string
	}{
		"NoThreshold": {
			reason: "Rules of a metric that is not judged would have no effect.", metric: "latency_p99", rules: rules{Count: new(int32(5))},
			want: "spec.gatesConfig.metricRules.latency_p99: the metric has no threshold: set spec.gatesConfig.sloThresholds.latency_p99, or remove its rules",
		},
		"TooLong": {
			reason: "Measurements that do not fit into the timeout never make a verdict.", rules: rules{Count: new(int32(50))},
			want: "spec.gatesConfig.metricRules.availability.timeout: 15m0s is not longer than the 30m30s that initialDelay and the intervals " +
				"between 50 measurements take",
		},
		"Interval": {
			reason: "An interval below one second is refused.", rules: rules{Interval: "100ms"},
			want: `spec.gatesConfig.metricRules.availability.interval: "100ms" is not between 1s and 24h`,
		},
		"AllMayFail": {
			reason: "A limit that lets all measurements fail judges nothing.", rules: rules{FailureLimit: new(int32(3))},
			want: "spec.gatesConfig.metricRules.availability.failureLimit: 3 of 3 measurements may fail: it must be less than count",
		},
		"Bounds": {
			reason: "A rule beyond the bounds of a Site is refused with the path of its field.", rules: rules{Timeout: "2h"},
			bounds: &configv1alpha1.MetricRuleBounds{MaxTimeout: "1h"},
			want:   `spec.gatesConfig.metricRules.availability.timeout: 2h is more than the 1h of maxTimeout in spec.metrics.metricRuleBounds of Site "edge1"`,
		},
		"Pass": {
			reason: "No data is a pass only where an administrator allows that.", rules: rules{NoData: "Pass"},
			want: `spec.gatesConfig.metricRules.availability.noData: Pass is not allowed: it needs noDataPass: Allow in spec.metrics.metricRuleBounds of Site "edge1", ` +
				`or in spec.policy.metricRuleBounds of its ClusterProviderConfig`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			metric := tc.metric
			if metric == "" {
				metric = "availability"
			}
			p := newPlace("edge1")
			p.Site.Spec.Metrics.MetricRuleBounds = tc.bounds
			in := newInput(config{SLOThresholds: thresholds{"availability": "99"}, MetricRules: map[string]rules{metric: tc.rules}}, p)
			in.Blueprint.Spec.Metrics[1].MetricRules = blueprintRules()
			_, err := NewCompiler(1 << 20).Compile(in)
			if err == nil {
				t.Fatalf("\n%s\nCompile(...): no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("\n%s\nCompile(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBoundsOfBlueprint compiles a metric whose Blueprint goes beyond the bounds of the Site.
func TestBoundsOfBlueprint(t *testing.T) {
	p := newPlace("edge1")
	p.Site.Spec.Metrics.MetricRuleBounds = &configv1alpha1.MetricRuleBounds{MaxTimeout: "1m", NoDataPass: "Deny", MinCount: new(int32(50))}
	in := newInput(config{SLOThresholds: thresholds{"availability": "99"}}, p)
	in.Blueprint.Spec.Metrics[1].MetricRules = rules{NoData: "Pass", Timeout: "1h"}
	if _, err := NewCompiler(1 << 20).Compile(in); err != nil {
		t.Errorf("The bounds hold deployments, and not the catalog: Compile(...): %v", err)
	}
}

func TestCheckMetrics(t *testing.T) {
	metrics := []catalogv1alpha1.BlueprintMetric{{Name: "good", MetricRules: blueprintRules()}, {Name: "bad", MetricRules: rules{InitialDelay: "6m"}}}
	if err := CheckMetrics(metrics[:1]); err != nil {
		t.Errorf("CheckMetrics(...) of rules that make a verdict: %v", err)
	}
	const want = "spec.metrics[1].timeout: 5m0s is not longer than the 7m0s that initialDelay and the intervals between 3 measurements take"
	if err := CheckMetrics(metrics); err == nil || err.Error() != want {
		t.Errorf("CheckMetrics(...) of rules that never do: want %q, got %v", want, err)
	}
}

func TestCompleteRules(t *testing.T) {
	defaults := deploymentv1alpha1.MetricRules{
		InitialDelay: "6m", Interval: "30s", Count: new(int32(3)), FailureLimit: new(int32(1)), ConsecutiveErrorLimit: new(int32(4)),
		InconclusiveLimit: new(int32(2)), NoData: deploymentv1alpha1.NoDataWait, Timeout: "15m",
	}
	custom := deploymentv1alpha1.MetricRules{
		InitialDelay: "1m", Interval: "10s", Count: new(int32(5)), FailureLimit: new(int32(0)), ConsecutiveErrorLimit: new(int32(0)),
		InconclusiveLimit: new(int32(0)), NoData: deploymentv1alpha1.NoDataFail, Timeout: "1h",
	}
	changed := defaults
	changed.FailureLimit = new(int32(0))
	cases := map[string]struct {
		reason      string
		rules, base deploymentv1alpha1.MetricRules
		want        deploymentv1alpha1.MetricRules
	}{
		"Nothing":    {reason: "A deployment that says nothing is judged by the rules of the Blueprint.", base: defaults, want: defaults},
		"Everything": {reason: "A deployment can say each rule itself.", rules: custom, base: defaults, want: custom},
		"One": {
			reason: "A rule that the deployment sets to 0 is set, and the others come from the Blueprint.",
			rules:  deploymentv1alpha1.MetricRules{FailureLimit: new(int32(0))}, base: defaults, want: changed,
		},
		"Neither": {reason: "A rule that neither sets is left to the defaults of a check.", want: deploymentv1alpha1.MetricRules{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, completeRules(tc.rules, tc.base)); diff != "" {
				t.Errorf("\n%s\ncompleteRules(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSetRules(t *testing.T) {
	rules := deploymentv1alpha1.MetricRules{Interval: "10s", Count: new(int32(5)), NoData: deploymentv1alpha1.NoDataWait}
	got := deploymentv1alpha1.Check{Name: "p99"}
	SetRules(&got, rules)
	got.Default()
	*rules.Count = 7
	want := deploymentv1alpha1.Check{
		Name: "p99", InitialDelay: "30s", Interval: "10s", Count: new(int32(5)), FailureLimit: new(int32(0)), ConsecutiveErrorLimit: new(int32(4)),
		InconclusiveLimit: new(int32(0)), MinSamples: new(int32(1)), NoData: deploymentv1alpha1.NoDataWait, Timeout: "5m",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("SetRules(...), with the defaults of a check, and the rules changed since: -want, +got:\n%s", diff)
	}
}
