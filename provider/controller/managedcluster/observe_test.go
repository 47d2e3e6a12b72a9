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

// TestProviderConfigUsage checks that the use of a configuration is recorded, except for a ManagedCluster that is being deleted.
func TestProviderConfigUsage(t *testing.T) {
	w := newWorld(t)
	w.create(captParameters())
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
		t.Errorf("usages of a deleted ManagedCluster: %+v", l.Items)
	}
}

func TestDeletion(t *testing.T) {
	w := newReadyCluster(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.writes = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile() // The Site is deleted first, and then the Cluster.
	w.reconcile()
	if err := w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, &catalogv1alpha1.Site{}); err == nil {
		t.Error("its Site is still there")
	}
	if len(w.writes) == 0 || strings.Join(w.writes, "") != strings.Repeat("delete Cluster", len(w.writes)) {
		t.Errorf("writes while the Cluster still exists: %q", w.writes)
	}
	w.writes = nil
	w.removeSilently("Cluster")
	w.reconcileUntilDeleted("delete CAPTControlPlane", "CAPTControlPlane")
	w.reconcileUntilDeleted("delete CAPTCluster", "CAPTCluster")
	for w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestDeletionProgressIsWrittenAtOnce checks that each step of a deletion is written, however fast the next one follows: there may be no
// later reconcile.
func TestDeletionProgressIsWrittenAtOnce(t *testing.T) {
	w := newReadyCluster(t)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	for _, reason := range []string{"WaitingForWorkersDeletion", "WaitingForControlPlaneDeletion", "WaitingForInfrastructureDeletion"} {
		w.putYAML("Cluster", "metadata: {deletionTimestamp: '2026-11-01T12:00:00Z', finalizers: [a/b]}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: "+reason+"}]}")
		for string(w.get().GetCondition(v1alpha1.TypeDeleting).Reason) != reason {
			select {
			case <-w.woken:
			case <-time.After(time.Minute):
				t.Fatalf("want %s, got %+v", reason, w.get().GetCondition(v1alpha1.TypeDeleting))
			}
			w.reconcile()
		}
	}
	previous := w.get().Status
	w.reconcile()
	if diff := cmp.Diff(previous, w.get().Status); diff != "" {
		t.Errorf("nothing happened, and the status was written: -before, +after:\n%s", diff)
	}
}

// reconcileUntilDeleted reconciles until the controller deletes an object, and then removes that.
func (w *testEnv) reconcileUntilDeleted(want, kind string) {
	w.Helper()
	for rounds := 0; len(w.writes) == 0 || w.writes[len(w.writes)-1] != want; rounds++ {
		if rounds > maxRounds {
			w.Fatalf("%q is not done: %q, %+v", want, w.writes, w.get().Status.Conditions)
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	w.removeSilently(kind)
}

func TestDeletionProtection(t *testing.T) {
	w := newReadyCluster(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.reconcileUntil(ready)
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.writes = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "InUse: deployments use Site team-a.prod: team-a/shop.") || len(w.writes) > 0 {
		t.Errorf("it is not held: %q, %q", m, w.writes)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.reconcile()
	if diff := cmp.Diff([]string{"delete Cluster"}, w.writes); diff != "" {
		t.Errorf("the Site is not used any more: -want, +got:\n%s", diff)
	}
}
