package transition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// now are the deployments that are somewhere, by phase and outcome. Where there is none is left out.
func now(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if n := m.GetGauge().GetValue(); f.GetName() == "intentdeployment_current" && n != 0 {
				out[labels["phase"]+" "+labels["outcome"]] = n
			}
		}
	}
	return out
}

// TestCurrent follows one deployment, over a restart, and another one of its name, to its end.
func TestCurrent(t *testing.T) {
	w := newWorld(t)
	step := func(reason string, want map[string]float64) {
		t.Helper()
		w.mustLook()
		w.mustLook()
		if diff := cmp.Diff(want, now(t, w.registry)); diff != "" {
			t.Errorf("\n%s\nintentdeployment_current: -want, +got:\n%s", reason, diff)
		}
	}
	step("It is nowhere yet.", map[string]float64{})
	w.status.Phase = deploymentv1alpha1.PhaseDelivering
	step("It is on its way.", map[string]float64{"Delivering None": 1})
	w.status.Phase, w.status.Outcome = deploymentv1alpha1.PhaseSucceeded, deploymentv1alpha1.OutcomeRolledBack
	step("It came back.", map[string]float64{"Succeeded RolledBack": 1})
	w.restart()
	step("Another provider sees the same.", map[string]float64{"Succeeded RolledBack": 1})
	w.uid, w.status.Outcome = "u2", deploymentv1alpha1.OutcomeSucceeded
	step("It was made anew.", map[string]float64{string(w.status.Phase) + " " + string(w.status.Outcome): 1})
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk())
	u.SetNamespace("team-a")
	u.SetName("shop")
	if err := w.kube.Delete(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]float64{}, now(t, w.registry)); diff != "" {
		t.Errorf("It is gone: intentdeployment_current: -want, +got:\n%s", diff)
	}
}
