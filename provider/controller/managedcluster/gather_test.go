package managedcluster

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

func TestObserveExistingCluster(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.putYAML("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting, Labels: map[string]v1alpha1.LabelValue{"a": "b"}}})
	w.reconcileUntil("NotReferenced")
	w.reportBuilt()
	w.reconcileUntil(ready)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err == nil || len(w.writes) > 0 {
		t.Errorf("it is only watched: %v, %q", err, w.writes)
	}
}

// TestProvisionedIsLatched checks that the ManagedCluster records when its Cluster was provisioned, and forgets it with the next Cluster.
func TestProvisionedIsLatched(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.putYAML("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting}})
	if observation := w.reconcileUntil("NotReferenced").Status.AtProvider; observation.Provisioned != nil {
		t.Errorf("it is not: %+v", observation.Provisioned)
	}
	// The cluster is provisioned at once, though its kubeconfig does not exist yet.
	w.putYAML("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	laterObservation := w.reconcileUntil("KubeconfigMissing").Status.AtProvider
	if laterObservation.Provisioned == nil || laterObservation.Provisioned.UID != laterObservation.UID {
		t.Fatalf("it is: %+v", laterObservation)
	}
	provisionedAt := laterObservation.Provisioned.At
	w.reportBuilt()
	w.reconcileUntil(ready)
	w.putYAML("Cluster", "status: {initialization: {infrastructureProvisioned: false}}")
	if lastObservation := w.reconcileUntil("Degraded").Status.AtProvider; lastObservation.Provisioned == nil || !lastObservation.Provisioned.At.Equal(&provisionedAt) {
		t.Errorf("it was: %+v", lastObservation.Provisioned)
	}
	w.removeSilently("Cluster")
	for range 3 {
		w.reconcile()
	}
	if mc := w.get(); !isClusterMissing(mc.Status) || mc.Status.AtProvider.UID != laterObservation.UID {
		t.Errorf("the missing Cluster is not reported at once: %+v", mc.GetCondition(v1alpha1.TypeDeleting))
	}
}

// TestForeignCluster checks that a Cluster of that name that another owner made is reported, and that the cluster is built once it is gone.
func TestForeignCluster(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.putYAML("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	w.create(captParameters())
	if observation := w.reconcileUntil("NameTaken").Status.AtProvider; observation.Provisioned != nil {
		t.Errorf("another Cluster was provisioned: %+v", observation.Provisioned)
	}
	w.removeSilently("Cluster")
	w.reconcileUntil("Provisioning")
	if len(w.writes) == 0 {
		t.Error("the cluster is not built")
	}
}

func TestObserveOnly(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.create(captParameters())
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	for range 3 {
		w.reconcile()
	}
	if len(w.writes) > 0 {
		t.Errorf("it is only watched: %q", w.writes)
	}
}

// TestWithdrawnCAPTFields checks that a label that is not desired any more is removed from the Cluster.
func TestWithdrawnCAPTFields(t *testing.T) {
	w := newReadyCluster(t)
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.reconcileUntil(ready)
	w.writes = nil
	w.change(func(mc *v1alpha1.ManagedCluster) { delete(mc.Spec.ForProvider.Labels, "cni") })
	w.reconcileUntil(ready)
	if diff := cmp.Diff([]string{"apply Cluster"}, w.writes); diff != "" {
		t.Errorf("a label that is withdrawn: -want, +got:\n%s", diff)
	}
	w.writes = nil
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if len(w.writes) > 0 {
		t.Errorf("steady state writes: %q", w.writes)
	}
}

// TestReplacedObjectIsLost checks that another object of the same name, with any owner, does not replace the lost object.
func TestReplacedObjectIsLost(t *testing.T) {
	mc := &v1alpha1.ManagedCluster{}
	mc.Spec.ForProvider.Type, mc.Spec.ForProvider.Cluster.Name = v1alpha1.TypeTopology, "c1"
	mc.Status.AtProvider = v1alpha1.ManagedClusterObservation{UID: "u1", Objects: []v1alpha1.ClusterObject{{Kind: desired.KindCluster, Name: "c1", UID: "u1"}}}
	live := desired.NewCluster(mc, "v1beta2", nil)
	live.SetUID("u2")
	f := facts{mc: mc, parts: []part{{want: live, live: live}}, report: readiness.Read(readiness.Input{Cluster: readiness.Found(live, readiness.NewestContract())})}
	if reason, _ := refuseReason(f); reason != v1alpha1.ReasonObjectsGone {
		t.Errorf("reason %q", reason)
	}
	if observation := newObservation(f, mc.Status.AtProvider); observation.UID != "u1" || findRecordedUID(observation, desired.KindCluster, "c1") != "u1" {
		t.Errorf("the UID of the lost object is forgotten: %+v", observation)
	}
	if isDeletable(mc, f.parts[0]) {
		t.Error("another object of the name would be deleted")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u1"})
	if describeLostObjects(f) != "" {
		t.Error("the user allowed that it is made again")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u0"})
	if describeLostObjects(f) == "" {
		t.Error("the user allowed it for another UID")
	}
}
