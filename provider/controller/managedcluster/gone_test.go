package managedcluster

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

func TestExisting(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting, Labels: map[string]v1alpha1.LabelValue{"a": "b"}}})
	w.until("NotReferenced")
	w.built()
	w.until(ready)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err == nil || len(w.did) > 0 {
		t.Errorf("it is only watched: %v, %q", err, w.did)
	}
}

// TestProvisionedIsRemembered by the ManagedCluster, for one Cluster.
func TestProvisionedIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting}})
	if at := w.until("NotReferenced").Status.AtProvider; at.Provisioned != nil {
		t.Errorf("it is not: %+v", at.Provisioned)
	}
	// It is at once, though there is no kubeconfig yet.
	w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	at := w.until("KubeconfigMissing").Status.AtProvider
	if at.Provisioned == nil || at.Provisioned.UID != at.UID {
		t.Fatalf("it is: %+v", at)
	}
	since := at.Provisioned.At
	w.built()
	w.until(ready)
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: false}}")
	if at := w.until("Degraded").Status.AtProvider; at.Provisioned == nil || !at.Provisioned.At.Equal(&since) {
		t.Errorf("it was: %+v", at.Provisioned)
	}
	w.vanish("Cluster")
	for range 3 {
		w.reconcile()
	}
	if mc := w.get(); !missing(mc.Status) || mc.Status.AtProvider.UID != at.UID {
		t.Errorf("that it is gone is not told at once: %+v", mc.GetCondition(v1alpha1.TypeDeleting))
	}
}

// TestForeign is a Cluster of that name which somebody else made, and which goes again.
func TestForeign(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	w.create(captSpec())
	if at := w.until("NameTaken").Status.AtProvider; at.Provisioned != nil {
		t.Errorf("it is another one that was provisioned: %+v", at.Provisioned)
	}
	w.vanish("Cluster")
	w.until("Provisioning")
	if len(w.did) == 0 {
		t.Error("nothing is made")
	}
}

func TestObserveOnly(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(captSpec())
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	for range 3 {
		w.reconcile()
	}
	if len(w.did) > 0 {
		t.Errorf("it is only watched: %q", w.did)
	}
}

// TestWithdrawn carries out what is not asked for any more: it is still there, and looks like somebody else's.
func TestWithdrawn(t *testing.T) {
	w := settled(t)
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.until(ready)
	w.did = nil
	w.change(func(mc *v1alpha1.ManagedCluster) { delete(mc.Spec.ForProvider.Labels, "cni") })
	w.until(ready)
	if diff := cmp.Diff([]string{"apply Cluster"}, w.did); diff != "" {
		t.Errorf("a label that is withdrawn: -want, +got:\n%s", diff)
	}
	w.did = nil
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if len(w.did) > 0 {
		t.Errorf("steady state writes: %q", w.did)
	}
}

// TestAnotherOfThatName is not the object that is gone, whoever made it.
func TestAnotherOfThatName(t *testing.T) {
	mc := &v1alpha1.ManagedCluster{}
	mc.Spec.ForProvider.Type, mc.Spec.ForProvider.Cluster.Name = v1alpha1.TypeTopology, "c1"
	mc.Status.AtProvider = v1alpha1.ManagedClusterObservation{UID: "u1", Objects: []v1alpha1.ClusterObject{{Kind: kindCluster, Name: "c1", UID: "u1"}}}
	live := object(mc, "cluster.x-k8s.io/v1beta2", kindCluster, nil)
	live.SetUID("u2")
	f := facts{mc: mc, parts: []part{{want: live, live: live}}, report: readiness.Read(readiness.Input{Cluster: readiness.Found(live, readiness.NewestContract())})}
	if reason, _ := refuse(f); reason != v1alpha1.ReasonObjectsGone {
		t.Errorf("reason %q", reason)
	}
	if at := observation(f, mc.Status.AtProvider); at.UID != "u1" || uidOf(at, kindCluster, "c1") != "u1" {
		t.Errorf("which one was there is forgotten: %+v", at)
	}
	if deletable(mc, f.parts[0]) {
		t.Error("another one would be deleted")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u1"})
	if lost(f) != "" {
		t.Error("a person said that it may be made again")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u0"})
	if lost(f) == "" {
		t.Error("a person said so of another one")
	}
}
