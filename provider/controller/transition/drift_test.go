package transition

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// driftEvents returns the messages of the events about restored drift.
func (w *testEnv) driftEvents() []string {
	w.t.Helper()
	l := &corev1.EventList{}
	if err := w.kube.List(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}
	out := []string{}
	for _, e := range l.Items {
		if e.Reason == deploymentv1alpha1.ReasonDriftRestored && e.InvolvedObject.Name == "shop" && e.Type == corev1.EventTypeWarning {
			out = append(out, e.Message)
		}
	}
	return out
}

func TestReportDrift(t *testing.T) {
	w := newTestEnv(t)
	delivered := func(reason, message string, timestamp time.Time) {
		t.Helper()
		u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
			"type": deploymentv1alpha1.TypeDelivered, "status": "True", "reason": reason, "message": message,
			"lastTransitionTime": timestamp.Format(time.RFC3339),
		}}}}}
		u.SetGroupVersionKind(gvk())
		u.SetNamespace("team-a")
		u.SetName("shop")
		u.SetUID("u1")
		_ = w.kube.Delete(t.Context(), u.DeepCopy())
		if err := w.kube.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(reason string, messages ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, messages...), w.driftEvents()); diff != "" {
			t.Errorf("\n%s\nevents: -want, +got:\n%s", reason, diff)
		}
	}
	delivered(deploymentv1alpha1.ReasonDelivered, "", clock())
	want("A delivery without drift has no event.")
	delivered(deploymentv1alpha1.ReasonDriftRestored, "commit a", clock())
	delivered(deploymentv1alpha1.ReasonDriftRestored, "commit a", clock())
	want("Restored drift has one event.", "commit a")
	w.restart()
	delivered(deploymentv1alpha1.ReasonDriftRestored, "commit a", clock())
	want("Another process of the provider reports the same drift only once.", "commit a")
	delivered(deploymentv1alpha1.ReasonDriftRestored, "commit b", clock().Add(-time.Hour))
	want("Drift that was restored long ago is not reported.", "commit a")
	delivered(deploymentv1alpha1.ReasonDriftRestored, "commit c", clock())
	if got := len(w.driftEvents()); got != 2 {
		t.Errorf("\nDrift that is restored again has an event of its own.\nevents: want 2, got %d", got)
	}
}
