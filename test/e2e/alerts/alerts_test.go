package alerts

import (
	"cmp"
	"maps"
	"testing"

	"github.com/intentplane/intentplane/test/alerting"
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
		// alert that fires. The default is the name of the case.
		alert string
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
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="DeliveryBlocked"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Stalled", "reason": "DeliveryBlocked"}), value: 1,
		},
		"SomethingMissing": {
			reason: "A deployment that names what does not exist is stuck, although it goes on by itself once a user creates that.", alert: "IntentDeploymentStuck",
			series: map[string]string{
				`intentdeployment_condition{namespace="team-a",name="shop",type="SitesFound",reason="BlueprintMissing"}`: constantSeries("0"),
				`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="Progressing"}`:         constantSeries("0"),
			},
			labels: shop(map[string]string{"type": "SitesFound", "reason": "BlueprintMissing"}),
		},
		"IntentDeploymentWithoutData": {
			reason: "A gate without data is named, once that lasts.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Validated",reason="NoData"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Validated", "reason": "NoData"}),
		},
		"CanaryHeld": {
			reason: "A step whose Gate came to no conclusion is named, once that lasts.", alert: "IntentDeploymentWithoutData",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Reconciling",reason="Held"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Reconciling", "reason": "Held"}), value: 1,
		},
		"IntentDeploymentDrifted": {
			reason: "Files that another commit changed are named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Reconciling",reason="Drifted"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Reconciling", "reason": "Drifted"}), value: 1,
		},
		"ApplicationDegraded": {
			reason: "An Application whose pods do not serve at some Site, or at any, is named with the reason of the pods.",
			series: map[string]string{
				`application_condition{namespace="team-a",name="shop",type="Available",reason="CrashLoopBackOff"}`: constantSeries("0"),
				`application_condition{namespace="team-a",name="shop",type="Stalled",reason="Progressing"}`:        constantSeries("0"),
			},
			labels: shop(map[string]string{"type": "Available", "reason": "CrashLoopBackOff"}),
		},
		"ApplicationFailed": {
			reason: "An Application that failed is named once, with why it failed, also where its pods do not serve.", alert: "ApplicationDegraded",
			series: map[string]string{
				`application_condition{namespace="team-a",name="shop",type="Available",reason="CrashLoopBackOff"}`: constantSeries("0"),
				`application_condition{namespace="team-a",name="shop",type="Stalled",reason="DeploymentFailed"}`:   constantSeries("1"),
			},
			labels: shop(map[string]string{"type": "Stalled", "reason": "DeploymentFailed"}), value: 1,
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
			reason: "A namespaced composite that Crossplane does not watch is named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Responsive",reason="WatchCircuitOpen",customresource_kind="IntentDeployment"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Responsive", "reason": "WatchCircuitOpen", "customresource_kind": "IntentDeployment"}),
		},
		"CompositeOfClaim": {
			reason: "The composite behind a claim is named by its claim.", alert: "CompositeNotResponsive",
			series: map[string]string{`xbundle_condition{namespace="team-a",name="shop",type="Responsive",reason="WatchCircuitOpen",customresource_kind="XBundle"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Responsive", "reason": "WatchCircuitOpen", "customresource_kind": "XBundle"}),
		},
		"LedgerUnreachable": {
			reason: "A deployment whose ledger cannot be reached is named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Recorded",reason="LedgerUnreachable"}`: constantSeries("0")},
			labels: shop(map[string]string{"type": "Recorded", "reason": "LedgerUnreachable"}),
		},
		"NotificationsPending": {
			reason: "Notifications that receivers do not take are counted over all providers.",
			series: map[string]string{`intentplane_notifications_pending{instance="other"}`: constantSeries("2")}, value: 2,
		},
		"CanaryAwaitsAUser": {
			reason: "A canary that waits until a user releases the next step is named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Reconciling",reason="AwaitingPromotion"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Reconciling", "reason": "AwaitingPromotion"}), value: 1,
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
	all := alerting.ReadAlerts(t)
	for _, a := range all {
		if _, ok := cases[a.Name]; !ok {
			t.Errorf("alert %s has no series that it fires on", a.Name)
		}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := alerting.FindAlert(t, all, cmp.Or(tc.alert, name))
			series := goodSeries()
			maps.Copy(series, tc.series)
			delete(series, tc.absent)
			if err := alerting.CheckWrittenSeries(t, all, series, alerting.Firing{Alert: a, SeriesLabels: tc.labels, Value: tc.value}); err != nil {
				t.Errorf("\n%s\n%v", tc.reason, err)
			}
		})
	}
}

// TestGoodStory shows that no alert fires where nothing is wrong.
func TestGoodStory(t *testing.T) {
	if err := alerting.CheckWrittenSeries(t, alerting.ReadAlerts(t), goodSeries(), alerting.Firing{}); err != nil {
		t.Error(err)
	}
}
