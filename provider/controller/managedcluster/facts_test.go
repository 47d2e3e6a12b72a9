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

// createComposed creates a ManagedCluster of a composite, with a UID of its own.
func (w *testEnv) createComposed(xr *unstructured.Unstructured, uid string) {
	w.Helper()
	isController := true
	p := captParameters()
	p.Site.Publish = true
	mc := managedCluster(p)
	mc.SetUID(types.UID(uid))
	mc.SetLabels(map[string]string{xcrd.LabelKeyNamePrefixForComposed: xr.GetName()})
	mc.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: xr.GetAPIVersion(), Kind: xr.GetKind(), Name: xr.GetName(), UID: xr.GetUID(), Controller: &isController}})
	w.must(w.Create(w.Context(), mc))
}

// putComposite creates a WorkloadCluster that is not being deleted.
func (w *testEnv) putComposite() *unstructured.Unstructured {
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

// deleteManagedCluster deletes the ManagedCluster, as a user does, and reconciles until it is gone.
func (w *testEnv) deleteManagedCluster() {
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

func (w *testEnv) countLeases() int {
	w.Helper()
	l := &coordinationv1.LeaseList{}
	w.must(w.List(w.Context(), l))
	return len(l.Items)
}

// TestRecreatedByLiveComposite deletes the ManagedCluster of a WorkloadCluster that is not being deleted. The next ManagedCluster adopts
// the objects; with the WorkloadCluster all of them are deleted.
func TestRecreatedByLiveComposite(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	xr := w.putComposite()
	w.createComposed(xr, "first-uid")
	w.reconcileUntil("Provisioning")
	w.reportBuilt()
	w.reconcileUntil(ready)
	site := w.getSite("team-a.prod")
	w.writes = nil

	w.deleteManagedCluster()
	if diff := cmp.Diff([]string(nil), w.writes); diff != "" || w.countLeases() != 1 {
		t.Errorf("writes to the cluster when its ManagedCluster was deleted, with %d reservations: -want, +got:\n%s", w.countLeases(), diff)
	}
	w.createComposed(xr, "second-uid")
	w.reconcileUntil(ready)
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.writes); diff != "" {
		t.Errorf("writes of the next ManagedCluster, which puts its own UID on each object once: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(site, w.getSite("team-a.prod")); diff != "" {
		t.Errorf("the Site: -before, +after:\n%s", diff)
	}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		if got := w.getLive(kind).GetLabels()[v1alpha1.LabelOwner]; got != "second-uid" {
			t.Errorf("%s is marked as that of ManagedCluster %q", kind, got)
		}
	}

	w.must(w.Client.Delete(t.Context(), xr))
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.reconcileUntilDeleted("delete "+kind, kind)
	}
	w.requireNothingLeft()
}

// requireNothingLeft reconciles until a ManagedCluster that is being deleted is gone, and checks that Site and reservation are gone, too.
func (w *testEnv) requireNothingLeft() {
	w.Helper()
	for w.Get(w.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	if w.getSite("team-a.prod") != nil || w.countLeases() != 0 {
		w.Errorf("left behind: Site %v, %d reservations", w.getSite("team-a.prod"), w.countLeases())
	}
}

// TestOtherCompositeAdoptsNothing creates a ManagedCluster of the same name for another WorkloadCluster, which adopts nothing.
func TestOtherCompositeAdoptsNothing(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	xr := w.putComposite()
	w.createComposed(xr, "first-uid")
	w.reconcileUntil("Provisioning")
	w.deleteManagedCluster()
	otherComposite := xr.DeepCopy()
	otherComposite.SetUID("other-uid")
	w.createComposed(otherComposite, "second-uid")
	w.reconcileUntil("NameTaken")
}
