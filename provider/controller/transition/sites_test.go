package transition

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// TestSiteReconciler checks that each wait of a Site is measured once.
func TestSiteReconciler(t *testing.T) {
	w := newTestEnv(t)
	registry := prometheus.NewRegistry()
	m, err := telemetry.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	r := &SiteReconciler{kube: w.kube, metrics: m, measured: map[types.NamespacedName]map[string]time.Time{}}
	timeAt := func(s int) *metav1.Time { t := metav1.NewTime(clock().Add(time.Duration(s) * time.Second)); return &t }
	look := func(sites ...deliveryv1alpha1.SiteObservation) {
		t.Helper()
		s := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
		_ = w.kube.Delete(t.Context(), s.DeepCopy())
		s.Status.AtProvider.Sites = sites
		if err := w.kube.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
	}
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: timeAt(0)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: timeAt(0), LiveSince: timeAt(7)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: timeAt(0)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: timeAt(0)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: timeAt(0), LiveSince: timeAt(20)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: timeAt(0), LiveSince: timeAt(7)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: timeAt(30), LiveSince: timeAt(130)})
	if diff := cmp.Diff(map[string]float64{"": 127}, values(t, registry, syncs)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", syncs, diff)
	}
}
