package alerts

import (
	"cmp"
	"maps"
	"testing"

	"github.com/intentplane/intentplane/test/alerting"
)

// TestWrittenSeries plays the series of conditions that no story of this package causes: of pods, which no node runs here, of canaries, and of
// branches that refuse a push. An alert is silent before its time, fires then, and no other alert fires beside it.
func TestWrittenSeries(t *testing.T) {
	shop := func(rest map[string]string) map[string]string {
		out := map[string]string{"namespace": "team-a", "name": "shop"}
		maps.Copy(out, rest)
		return out
	}
	cases := map[string]struct {
		reason string
		// alert that fires. The default is the name of the case.
		alert string
		// series of the fault, beside the good series.
		series map[string]string
		// labels of the alert beside the labels of the rule, and the value of its expression.
		labels map[string]string
		value  float64
	}{
		"IntentDeploymentStuck": {
			reason: "A deployment that waits for a person is named with the reason for its wait.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="DeliveryBlocked"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Stalled", "reason": "DeliveryBlocked"}), value: 1,
		},
		"CanaryHeld": {
			reason: "A step whose Gate came to no conclusion is named, once that lasts.", alert: "IntentDeploymentWithoutData",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Reconciling",reason="Held"}`: constantSeries("1")},
			labels: shop(map[string]string{"type": "Reconciling", "reason": "Held"}), value: 1,
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
	}
	all := alerting.ReadAlerts(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := alerting.FindAlert(t, all, cmp.Or(tc.alert, name))
			series := healthySeries()
			maps.Copy(series, tc.series)
			if err := alerting.CheckWrittenSeries(t, all, series, alerting.Firing{Alert: a, SeriesLabels: tc.labels, Value: tc.value}); err != nil {
				t.Errorf("\n%s\n%v", tc.reason, err)
			}
		})
	}
}

// TestGoodStory shows that no alert fires where nothing is wrong.
func TestGoodStory(t *testing.T) {
	if err := alerting.CheckWrittenSeries(t, alerting.ReadAlerts(t), healthySeries(), alerting.Firing{}); err != nil {
		t.Error(err)
	}
}
