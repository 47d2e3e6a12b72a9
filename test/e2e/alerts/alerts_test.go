package alerts

import (
	"maps"
	"testing"
)

// TestAlerts shows for each alert that it is silent before its time, fires then, and that no other alert fires beside it.
func TestAlerts(t *testing.T) {
	shop := func(rest map[string]string) map[string]string {
		out := map[string]string{"namespace": "team-a", "name": "shop"}
		maps.Copy(out, rest)
		return out
	}
	cases := map[string]struct {
		reason string
		// series that are bad, beside the good ones; absent are good ones that are missing.
		series map[string]string
		absent string
		// labels of the alert beside those of the rule, and the value of its expression.
		labels map[string]string
		value  float64
	}{
		"IntentDeploymentFailed": {
			reason: "A deployment that failed is named with its reason, and is not stuck beside that.",
			series: map[string]string{
				`intentdeployment_info{namespace="team-a",name="shop",phase="Failed",outcome="Failed",revision="7",reason="NoTarget"}`: constantSeries("1"),
				`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="NoTarget"}`:                          constantSeries("1"),
			},
			labels: shop(map[string]string{"phase": "Failed", "outcome": "Failed", "revision": "7", "reason": "NoTarget"}), value: 1,
		},
		"IntentDeploymentRolledBack": {
			reason: "A deployment that was rolled back is named with its revision, and is not stuck beside that.",
			series: map[string]string{
				`intentdeployment_info{namespace="team-a",name="shop",phase="Succeeded",outcome="RolledBack",revision="7",reason="RolledBack"}`: constantSeries("1"),
				`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="RolledBack"}`:                                 constantSeries("1"),
			},
			labels: shop(map[string]string{"phase": "Succeeded", "outcome": "RolledBack", "revision": "7", "reason": "RolledBack"}), value: 1,
		},
		"IntentDeploymentStuck": {
			reason: "A deployment that waits for a person is named with what it waits for.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="BlueprintMissing"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Stalled", "reason": "BlueprintMissing"}), value: 1,
		},
		"IntentDeploymentWithoutData": {
			reason: "A gate without data is named, once that lasts.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Validated",reason="NoData"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Validated", "reason": "NoData"}),
		},
		"IntentDeploymentDrifted": {
			reason: "Files that another commit changed are named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Delivered",reason="Drifted"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Delivered", "reason": "Drifted"}),
		},
		"ApplicationDegraded": {
			reason: "An Application whose pods do not serve is named with its phase.",
			series: map[string]string{`application_info{namespace="team-a",name="shop",phase="Degraded",reason="CrashLoopBackOff"}`: constantSeries("1")},
			labels: shop(map[string]string{"phase": "Degraded", "reason": "CrashLoopBackOff"}), value: 1,
		},
		"RepositoryUnreachable": {
			reason: "A repository that cannot be used is named by its GitDelivery.",
			series: map[string]string{`gitdelivery_condition{namespace="team-a",name="shop",type="Ready",reason="AuthFailed"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Ready", "reason": "AuthFailed"}),
		},
		"ConfigurationNotReady": {
			reason: "A configuration whose repository cannot be used is named, whether or not a deployment uses it.",
			series: map[string]string{`clusterproviderconfig_condition{name="default",type="Ready",reason="TrustFailed"}`: constantSeries("0")},
			labels: map[string]string{"name": "default", "type": "Ready", "reason": "TrustFailed"},
		},
		"CompositeNotResponsive": {
			reason: "A composite that Crossplane does not watch is named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Responsive",reason="WatchCircuitOpen"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Responsive", "reason": "WatchCircuitOpen"}),
		},
		"LedgerUnreachable": {
			reason: "Deployments whose ledger cannot be reached are counted over all providers.",
			series: map[string]string{`intentdeployment_ledger_unreachable{instance="other"}`: constantSeries("2")}, value: 2,
		},
		"NotificationsPending": {
			reason: "Notifications that receivers do not take are counted over all providers.",
			series: map[string]string{`intentplane_notifications_pending{instance="other"}`: constantSeries("2")}, value: 2,
		},
		"CanaryAwaitsAUser": {
			reason: "Canaries that wait for a user are counted by what they wait for.",
			series: map[string]string{`intentdeployment_canary{state="Held"}`: constantSeries("3")},
			labels: map[string]string{"state": "Held"}, value: 3,
		},
		"IntentplaneProviderGone": {
			reason: "A provider that reports no metrics is missed.", absent: `intentplane_build_info{component="provider",version="1.2.0"}`,
			labels: map[string]string{"component": "provider"}, value: 1,
		},
		"IntentplaneFunctionGone": {
			reason: "A function that reports no metrics is missed.", absent: `intentplane_build_info{component="function",version="1.2.0"}`,
			labels: map[string]string{"component": "function"}, value: 1,
		},
		"IntentplaneVersionSkew": {
			reason: "Versions that differ for longer than an upgrade takes are noticed.",
			series: map[string]string{`intentplane_build_info{component="provider",version="1.3.0"}`: constantSeries("1")}, value: 2,
		},
	}
	all := readAlerts(t)
	for _, a := range all {
		tc, ok := cases[a.Name]
		if !ok {
			t.Errorf("alert %s has no series that it fires on", a.Name)
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			series := goodSeries()
			maps.Copy(series, tc.series)
			delete(series, tc.absent)
			expected := firing{alert: a, labels: tc.labels, value: tc.value}
			if out, err := runRulesTest(t, all, series, expected); err != nil {
				t.Errorf("\n%s\npromtool test rules: %v:\n%s", tc.reason, err, out)
			}
		})
	}
}

// TestGoodStory shows that no alert fires where nothing is wrong.
func TestGoodStory(t *testing.T) {
	if out, err := runRulesTest(t, readAlerts(t), goodSeries(), firing{}); err != nil {
		t.Errorf("promtool test rules: %v:\n%s", err, out)
	}
}
