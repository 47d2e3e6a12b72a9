package managedcluster

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// compose a ManagedCluster of a composite, with a UID of its own.
func (w *world) compose(xr *unstructured.Unstructured, uid string) {
	w.Helper()
	is := true
	p := captSpec()
	p.Site.Publish = true
	mc := managedCluster(p)
	mc.SetUID(types.UID(uid))
	mc.SetLabels(map[string]string{xcrd.LabelKeyNamePrefixForComposed: xr.GetName()})
	mc.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: xr.GetAPIVersion(), Kind: xr.GetKind(), Name: xr.GetName(), UID: xr.GetUID(), Controller: &is}})
	w.must(w.Create(w.Context(), mc))
}

// composite returns a WorkloadCluster that lives.
func (w *world) composite() *unstructured.Unstructured {
	w.Helper()
	out := []*unstructured.Unstructured{}
	for _, kind := range []string{"Namespace", "WorkloadCluster"} {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(map[string]string{"Namespace": "v1", "WorkloadCluster": "intentplane.dev/v1alpha1"}[kind])
		u.SetKind(kind)
		u.SetName("team-a")
		if kind == "WorkloadCluster" {
			u.SetNamespace("team-a")
			u.SetName("prod")
			u.SetUID("xr-uid")
		}
		w.must(w.Create(w.Context(), u))
		out = append(out, u)
	}
	return out[1]
}

// end the ManagedCluster, as a user does.
func (w *world) end() {
	w.Helper()
	w.must(w.Delete(w.Context(), w.get()))
	for range maxRounds {
		if w.Get(w.Context(), key(), &v1alpha1.ManagedCluster{}) != nil {
			return
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	w.Fatalf("the ManagedCluster is still there: %+v", w.get().Status)
}

func (w *world) leases() int {
	w.Helper()
	l := &coordinationv1.LeaseList{}
	w.must(w.List(w.Context(), l))
	return len(l.Items)
}

// TestDeleteWhileCompositeLives deletes the ManagedCluster of a WorkloadCluster that lives. The next one takes up what is there; with the
// WorkloadCluster all of it goes.
func TestDeleteWhileCompositeLives(t *testing.T) {
	w := newWorld(t)
	w.install()
	xr := w.composite()
	w.compose(xr, "first-uid")
	w.until("Provisioning")
	w.built()
	w.until(ready)
	site := w.site("team-a.prod")
	w.did = nil

	w.end()
	if diff := cmp.Diff([]string(nil), w.did); diff != "" || w.leases() != 1 {
		t.Errorf("writes to the cluster when its ManagedCluster was deleted, with %d reservations: -want, +got:\n%s", w.leases(), diff)
	}
	w.compose(xr, "second-uid")
	w.until(ready)
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.did); diff != "" {
		t.Errorf("writes of the next ManagedCluster, which puts its own UID on each object once: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(site, w.site("team-a.prod")); diff != "" {
		t.Errorf("the Site: -before, +after:\n%s", diff)
	}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		if got := w.live(kind).GetLabels()[v1alpha1.LabelOwner]; got != "second-uid" {
			t.Errorf("%s is marked as that of ManagedCluster %q", kind, got)
		}
	}

	w.must(w.Client.Delete(t.Context(), xr))
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.gone("delete "+kind, kind)
	}
	w.endedWithoutRest()
}

// endedWithoutRest waits for the end of a ManagedCluster that is being deleted, and looks for what it left behind.
func (w *world) endedWithoutRest() {
	w.Helper()
	for w.Get(w.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	if w.site("team-a.prod") != nil || w.leases() != 0 {
		w.Errorf("left behind: Site %v, %d reservations", w.site("team-a.prod"), w.leases())
	}
}

// TestOtherComposite makes a ManagedCluster of the same name for another WorkloadCluster, which takes nothing up.
func TestOtherComposite(t *testing.T) {
	w := newWorld(t)
	w.install()
	xr := w.composite()
	w.compose(xr, "first-uid")
	w.until("Provisioning")
	w.end()
	other := xr.DeepCopy()
	other.SetUID("other-uid")
	w.compose(other, "second-uid")
	w.until("NameTaken")
}
