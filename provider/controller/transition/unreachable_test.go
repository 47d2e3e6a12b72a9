package transition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestLedgerUnreachable follows a deployment whose ledger cannot be read or written, over a restart of the provider and under a new uid, until it is
// deleted.
func TestLedgerUnreachable(t *testing.T) {
	w := newTestEnv(t)
	want := func(reason string, want float64) {
		t.Helper()
		if diff := cmp.Diff(want, unreachableNow(t, w.registry)); diff != "" {
			t.Errorf("\n%s\nintentdeployment_ledger_unreachable: -want, +got:\n%s", reason, diff)
		}
	}
	want("The metric is there from the start, so that an alert about it has data.", 0)
	steps := []struct {
		reason   string
		recorded string
		change   func()
		want     float64
	}{
		{reason: "A deployment without conditions waits for no ledger."},
		{reason: "An unrecorded verdict is not a failure.", recorded: deploymentv1alpha1.ReasonNotRecorded},
		{reason: "A deployment whose ledger does not answer is counted.", recorded: deploymentv1alpha1.ReasonLedgerUnreachable, want: 1},
		{reason: "A restarted provider counts the deployment again.", recorded: deploymentv1alpha1.ReasonLedgerUnreachable, change: w.restart, want: 1},
		{reason: "A deployment that was recreated is counted once.", recorded: deploymentv1alpha1.ReasonLedgerUnreachable, change: func() { w.uid = "u2" }, want: 1},
		{reason: "A ledger that answers again is not counted.", recorded: deploymentv1alpha1.ReasonRecorded},
		{reason: "A ledger that fails again is counted again.", recorded: deploymentv1alpha1.ReasonLedgerUnreachable, want: 1},
	}
	for _, s := range steps {
		if w.recorded = s.recorded; s.change != nil {
			s.change()
		}
		w.mustReconcile()
		w.mustReconcile()
		want(s.reason, s.want)
	}
	w.r.forgetObject(types.NamespacedName{Namespace: "team-a", Name: "shop"})
	w.r.forgetObject(types.NamespacedName{Namespace: "team-a", Name: "shop"})
	want("A deployment that was deleted is not counted.", 0)
}

// unreachableNow returns how many deployments wait for their ledger, or -1 if the metric is missing.
func unreachableNow(t *testing.T, g prometheus.Gatherer) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "intentdeployment_ledger_unreachable" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}
