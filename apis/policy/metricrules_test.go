package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestCheckMetricRules(t *testing.T) {
	type (
		rules  = deploymentv1alpha1.MetricRules
		bounds = configv1alpha1.MetricRuleBounds
	)
	const place = ` in spec.metrics.metricRuleBounds of Site "edge1"`
	all := &bounds{
		MinInterval: "10s", MinCount: new(int32(3)), MaxFailureLimit: new(int32(1)), MaxConsecutiveErrorLimit: new(int32(4)),
		MaxInitialDelay: "10m", MaxTimeout: "1h",
	}
	cases := map[string]struct {
		reason       string
		kind         string
		site, config *bounds
		rules        rules
		want         string
	}{
		"NoBounds": {
			reason: "Without bounds a deployment may say all that can be judged.",
			rules: rules{
				InitialDelay: "1h", Interval: "1s", Count: new(int32(1)), FailureLimit: new(int32(99)), ConsecutiveErrorLimit: new(int32(100)),
				Timeout: "24h",
			},
		},
		"AtBounds": {
			reason: "A bound itself is allowed.", site: all, config: all,
			rules: rules{InitialDelay: "600s", Interval: "10s", Count: new(int32(3)), FailureLimit: new(int32(1)), ConsecutiveErrorLimit: new(int32(4)), Timeout: "60m"},
		},
		"Nothing": {reason: "Rules that are not set come from the Blueprint, and are not bounded.", site: all, config: all},
		"InitialDelay": {
			reason: "A longer delay than allowed is refused.",
			site:   all, rules: rules{InitialDelay: "11m"}, want: `initialDelay: 11m is more than the 10m of maxInitialDelay` + place,
		},
		"Interval": {
			reason: "A shorter interval than allowed is refused.",
			site:   all, rules: rules{Interval: "9s"}, want: `interval: 9s is less than the 10s of minInterval` + place,
		},
		"Timeout": {
			reason: "A longer timeout than allowed is refused.",
			site:   all, rules: rules{Timeout: "61m"}, want: `timeout: 61m is more than the 1h of maxTimeout` + place,
		},
		"Count": {
			reason: "Fewer measurements than allowed are refused.",
			site:   all, rules: rules{Count: new(int32(2))}, want: `count: 2 is less than the 3 of minCount` + place,
		},
		"FailureLimit": {
			reason: "More failures than allowed are refused.",
			site:   all, rules: rules{FailureLimit: new(int32(2))}, want: `failureLimit: 2 is more than the 1 of maxFailureLimit` + place,
		},
		"ErrorLimit": {
			reason: "More errors in a row than allowed are refused.",
			site:   all, rules: rules{ConsecutiveErrorLimit: new(int32(5))},
			want: `consecutiveErrorLimit: 5 is more than the 4 of maxConsecutiveErrorLimit` + place,
		},
		"Config": {
			reason: "The bounds of the configuration hold where the Site has wider ones.", site: &bounds{MaxTimeout: "2h"}, config: &bounds{MaxTimeout: "1h"},
			rules: rules{Timeout: "90m"},
			want:  `timeout: 90m is more than the 1h of maxTimeout in spec.policy.metricRuleBounds of the ClusterProviderConfig of Site "edge1"`,
		},
		"Passes": {
			reason: "No data is not a pass unless an administrator allows it.", rules: rules{NoData: "Pass"},
			want: `noData: Pass is not allowed: it needs noDataPass: Allow` + place + `, or in spec.policy.metricRuleBounds of its ClusterProviderConfig`,
		},
		"PassesAtSite": {reason: "A Site may allow that checks without data pass.", site: &bounds{NoDataPass: "Allow"}, rules: rules{NoData: "Pass"}},
		"PassesInConfig": {
			reason: "A ClusterProviderConfig may allow that checks without data pass.",
			config: &bounds{NoDataPass: "Allow"}, rules: rules{NoData: "Pass"},
		},
		"PassesInOwn": {
			reason: "A ProviderConfig cannot allow that checks without data pass, since a tenant writes it.",
			kind:   KindProviderConfig, config: &bounds{NoDataPass: "Allow"}, rules: rules{NoData: "Pass"},
			want: `noData: Pass is not allowed: it needs noDataPass: Allow` + place + `, or in spec.policy.metricRuleBounds of its ClusterProviderConfig`,
		},
		"PassesDenied": {
			reason: "A bound that denies it takes precedence over a bound that allows it.",
			site:   &bounds{NoDataPass: "Deny"}, config: &bounds{NoDataPass: "Allow"}, rules: rules{NoData: "Pass"},
			want: `noData: Pass is denied by noDataPass` + place,
		},
		"Waits": {reason: "Every other meaning of no data is the deployment's own choice.", site: &bounds{NoDataPass: "Deny"}, rules: rules{NoData: "Wait"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			site.SetName("edge1")
			site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{MetricRuleBounds: tc.site}
			kind := tc.kind
			if kind == "" {
				kind = KindClusterProviderConfig
			}
			c := &configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{MetricRuleBounds: tc.config}}
			got := ""
			if err := CheckMetricRules(site, kind, c, tc.rules); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckMetricRules(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
