package managedcluster

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestUsage is recorded for those who ask what a configuration is used by, and not for what is going.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	w.create(captSpec())
	w.reconcile()
	l := &configv1alpha1.ProviderConfigUsageList{}
	w.must(w.List(t.Context(), l, client.InNamespace("team-a")))
	if len(l.Items) != 1 || l.Items[0].ProviderConfigReference.Name != "default" || l.Items[0].ResourceReference.Name != "prod" {
		t.Fatalf("usages: %+v", l.Items)
	}
	w.must(w.Client.Delete(t.Context(), &l.Items[0]))
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.SetFinalizers([]string{"example.org/audit"}) })
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	w.must(w.List(t.Context(), l, client.InNamespace("team-a")))
	if len(l.Items) > 0 {
		t.Errorf("what is going uses: %+v", l.Items)
	}
}

func TestDeletion(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.did = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile() // The Site goes, and the Cluster.
	w.reconcile()
	if err := w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, &catalogv1alpha1.Site{}); err == nil {
		t.Error("its Site is still there")
	}
	if len(w.did) == 0 || strings.Join(w.did, "") != strings.Repeat("delete Cluster", len(w.did)) {
		t.Errorf("what is deleted while the Cluster is there: %q", w.did)
	}
	w.did = nil
	w.vanish("Cluster")
	w.gone("delete CAPTControlPlane", "CAPTControlPlane")
	w.gone("delete CAPTCluster", "CAPTCluster")
	for w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestDeletionIsTold at once, however fast one step follows another: nobody comes back for what was not written.
func TestDeletionIsTold(t *testing.T) {
	w := settled(t)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	for _, reason := range []string{"WaitingForWorkersDeletion", "WaitingForControlPlaneDeletion", "WaitingForInfrastructureDeletion"} {
		w.yaml("Cluster", "metadata: {deletionTimestamp: '2026-11-01T12:00:00Z', finalizers: [a/b]}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: "+reason+"}]}")
		for string(w.get().GetCondition(v1alpha1.TypeDeleting).Reason) != reason {
			select {
			case <-w.woken:
			case <-time.After(time.Minute):
				t.Fatalf("want %s, got %+v", reason, w.get().GetCondition(v1alpha1.TypeDeleting))
			}
			w.reconcile()
		}
	}
	before := w.get().Status
	w.reconcile()
	if diff := cmp.Diff(before, w.get().Status); diff != "" {
		t.Errorf("nothing happened, and the status was written: -before, +after:\n%s", diff)
	}
}

// gone reconciles until an object is deleted, and then removes it.
func (w *world) gone(want, kind string) {
	w.Helper()
	for rounds := 0; len(w.did) == 0 || w.did[len(w.did)-1] != want; rounds++ {
		if rounds > maxRounds {
			w.Fatalf("%q is not done: %q, %+v", want, w.did, w.get().Status.Conditions)
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	w.vanish(kind)
}

func TestProtected(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.until(ready)
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.did = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "InUse: deployments use Site team-a.prod: team-a/shop.") || len(w.did) > 0 {
		t.Errorf("it is not held: %q, %q", m, w.did)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.reconcile()
	if diff := cmp.Diff([]string{"delete Cluster"}, w.did); diff != "" {
		t.Errorf("nobody uses it any more: -want, +got:\n%s", diff)
	}
}
