package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestGatesWhileBuilding edits the source and, with it, how revisions are judged.
func TestGatesWhileBuilding(t *testing.T) {
	type gates = deploymentv1alpha1.GatesConfig
	web := func(name, url string, timeout deploymentv1alpha1.Duration) deploymentv1alpha1.Check {
		c := deploymentv1alpha1.Check{Name: name, Type: "Web", Web: &deploymentv1alpha1.WebCheck{URL: url, Expression: "true"}, Threshold: "< 5", Timeout: timeout}
		c.Default()
		return c
	}
	checksOf := func(n int) []deploymentv1alpha1.Check {
		var out []deploymentv1alpha1.Check
		for i := range n {
			out = append(out, web(string(rune('a'+i)), "https://a", "5m"))
		}
		return out
	}
	limits := map[string]deploymentv1alpha1.Threshold{"errors": "< 1%"}
	rules := func(timeout deploymentv1alpha1.Duration) map[string]deploymentv1alpha1.MetricRules {
		return map[string]deploymentv1alpha1.MetricRules{"errors": {Timeout: timeout}}
	}
	cases := map[string]struct {
		reason        string
		has, edit     gates
		hasFor, until deploymentv1alpha1.Duration
		want          gates
	}{
		"Progress": {reason: "A progressTimeout begins to count.", until: "5m", want: gates{Checks: []deploymentv1alpha1.Check{progressCheck("5m")}}},
		"ProgressChanged": {
			reason: "Another progressTimeout replaces the previous progressTimeout.",
			hasFor: "10m", until: "5m", want: gates{Checks: []deploymentv1alpha1.Check{progressCheck("5m")}},
		},
		"ProgressLeft": {reason: "A progressTimeout that is left out ends.", hasFor: "10m", want: gates{}},
		"ProgressKept": {
			reason: "An edit of the source alone changes no policy.",
			hasFor: "10m", until: "10m", want: gates{Checks: []deploymentv1alpha1.Check{progressCheck("10m")}},
		},
		"Metric": {
			reason: "Rules of a measured metric take effect, and rules of another metric wait for the image.", has: gates{SLOThresholds: limits},
			edit: gates{
				SLOThresholds: map[string]deploymentv1alpha1.Threshold{"errors": "< 2%", "latency": "< 1s"},
				MetricRules:   map[string]deploymentv1alpha1.MetricRules{"errors": {Timeout: "9m"}, "latency": {Timeout: "9m"}},
			},
			want: gates{SLOThresholds: limits, MetricRules: rules("9m")},
		},
		"MetricLeft": {
			reason: "Rules of a metric that are left out end.",
			has:    gates{SLOThresholds: limits, MetricRules: rules("9m")}, edit: gates{SLOThresholds: limits}, want: gates{SLOThresholds: limits},
		},
		"MetricRemoved": {
			reason: "A metric that an edit removes with its rules keeps them until the edit goes out.", has: gates{SLOThresholds: limits, MetricRules: rules("9m")},
			want: gates{SLOThresholds: limits, MetricRules: rules("9m")},
		},
		"MetricReplaced": {
			reason: "Rules without a threshold in the edit change no threshold that is held.", has: gates{SLOThresholds: limits, MetricRules: rules("9m")},
			edit: gates{SLOThresholds: map[string]deploymentv1alpha1.Threshold{"latency": "< 1s"}, MetricRules: rules("1m")},
			want: gates{SLOThresholds: limits, MetricRules: rules("9m")},
		},
		"Check": {
			reason: "The timeout of a check takes effect, and its request waits for the image.",
			has:    gates{Checks: []deploymentv1alpha1.Check{web("a", "https://a", "5m")}},
			edit:   gates{Checks: []deploymentv1alpha1.Check{web("a", "https://b", "9m"), web("b", "https://b", "9m")}},
			want:   gates{Checks: []deploymentv1alpha1.Check{web("a", "https://a", "9m")}},
		},
		"CheckLeft": {
			reason: "A check that an edit leaves out measures the image that it was made for.",
			has:    gates{Checks: checksOf(1)}, want: gates{Checks: checksOf(1)},
		},
		"PostCheck": {
			reason: "The timeout of a script takes effect, and its text waits for the image.",
			has:    gates{PostCheck: &deploymentv1alpha1.PostCheck{Script: "a", Timeout: "1m"}},
			edit:   gates{PostCheck: &deploymentv1alpha1.PostCheck{Script: "b", Timeout: "2m"}},
			want:   gates{PostCheck: &deploymentv1alpha1.PostCheck{Script: "a", Timeout: "2m"}},
		},
		"Backend": {
			reason: "The policy for an unavailable backend takes effect.", edit: gates{MetricsUnavailableTimeout: "1h", OnMetricsUnavailable: "Reject"},
			want: gates{MetricsUnavailableTimeout: "1h", OnMetricsUnavailable: "Reject"},
		},
		"OwnCheck": {
			reason: "A check of the user that has the name stays until the edit that gives it up goes out.",
			has:    gates{Checks: []deploymentv1alpha1.Check{web(ProgressCheck, "https://a", "5m")}}, until: "7m",
			want: gates{Checks: []deploymentv1alpha1.Check{web(ProgressCheck, "https://a", "5m")}},
		},
		"OwnMetric": {
			reason: "A metric that has the name stays until the edit that gives it up goes out.",
			has:    gates{SLOThresholds: map[string]deploymentv1alpha1.Threshold{ProgressCheck: "> 1"}}, until: "7m",
			want: gates{SLOThresholds: map[string]deploymentv1alpha1.Threshold{ProgressCheck: "> 1"}},
		},
		"Full": {
			reason: "A check that exceeds the limit waits for an edit that makes room.",
			has:    gates{Checks: checksOf(maxChecks)}, until: "7m", want: gates{Checks: checksOf(maxChecks)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.in.Spec.Deploy = v1alpha1.Deploy{Sites: w.in.Spec.Deploy.Sites, GatesConfig: *tc.has.DeepCopy(), ProgressTimeout: tc.hasFor}
			w.runs(newImage)
			w.in.Spec.Source.Git.Revision = "next"
			w.in.Spec.Deploy.GatesConfig, w.in.Spec.Deploy.ProgressTimeout = *tc.edit.DeepCopy(), tc.until
			w.run()
			w.builds("Building", atCommit(secondCommit))
			w.run()
			tc.want.Default()
			if diff := cmp.Diff(tc.want, w.desiredSpec().GatesConfig); diff != "" {
				t.Errorf("\n%s\nRun(...): gates of the image in force: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
