package managedcluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// putTopologyCondition writes the condition TopologyReconciled of the Cluster for a generation of it.
func (w *testEnv) putTopologyCondition(class string, generation int, status string) {
	w.Helper()
	w.putYAML("Cluster", fmt.Sprintf(`
metadata: {generation: %d}
spec: {topology: {classRef: {name: %s}}}
status: {conditions: [{type: TopologyReconciled, status: '%s', reason: Words, observedGeneration: %d}]}`, generation, class, status, generation))
}

// TestTopologyRebase checks that the status records the ClusterClass that a cluster was made from, and that it is being rebased.
func TestTopologyRebase(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.putTopologyCondition("a", 1, "True")
	w.reportBuilt()
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting}})
	w.reconcileUntil(ready)
	wantTopology := func(description string, want v1alpha1.ObservedTopology) {
		t.Helper()
		w.reconcile()
		got := w.get().Status.AtProvider.Topology
		if got == nil {
			t.Fatalf("%s: nothing is known", description)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", description, diff)
		}
	}
	passTime := func(d time.Duration) { w.reconcile(); w.clock = w.clock.Add(d) }
	passTime(progressInterval)
	wantTopology("it is made of a", v1alpha1.ObservedTopology{Class: "a"})
	w.putTopologyCondition("b", 2, "False")
	wantTopology("the Cluster names b", v1alpha1.ObservedTopology{Class: "a", Rebasing: true, Reason: "Words"})
	// Cluster API reports that it is reconciled before it notices the effect of the change.
	w.putTopologyCondition("b", 2, "True")
	passTime(readiness.Stabilization - time.Second)
	wantTopology("it is done, and not for long enough", v1alpha1.ObservedTopology{Class: "a", Rebasing: true})
	w.putTopologyCondition("b", 2, "False")
	passTime(2 * time.Second)
	w.putTopologyCondition("b", 2, "True")
	passTime(readiness.Stabilization - time.Second)
	wantTopology("it was interrupted", v1alpha1.ObservedTopology{Class: "a", Rebasing: true})
	if w.result.RequeueAfter > time.Second {
		t.Errorf("it is looked at again after %s only", w.result.RequeueAfter)
	}
	passTime(time.Second)
	wantTopology("it is made of b", v1alpha1.ObservedTopology{Class: "b"})
	w.putTopologyCondition("d", 2, "True")
	passTime(time.Second)
	wantTopology("core was done at once", v1alpha1.ObservedTopology{Class: "b", Rebasing: true})
	w.putTopologyCondition("b", 2, "True")
	passTime(progressInterval)
	wantTopology("it is made of b again", v1alpha1.ObservedTopology{Class: "b"})
	w.putTopologyCondition("c", 3, "False")
	wantTopology("the Cluster names c", v1alpha1.ObservedTopology{Class: "b", Rebasing: true, Reason: "Words"})
	w.putTopologyCondition("b", 4, "False")
	passTime(progressInterval)
	wantTopology("the change back is a rebase too", v1alpha1.ObservedTopology{Class: "b", Rebasing: true, Reason: "Words"})
	w.putTopologyCondition("b", 4, "True")
	passTime(progressInterval)
	wantTopology("and is done", v1alpha1.ObservedTopology{Class: "b"})
	w.putTopologyCondition("b", 4, "False")
	passTime(progressInterval)
	wantTopology("a condition with another reason is not reported", v1alpha1.ObservedTopology{Class: "b"})
	w.putTopologyCondition("b", 4, "True")
	passTime(progressInterval)
	w.reconcile()
	if w.result.RequeueAfter < time.Minute {
		t.Errorf("it is looked at again after %s", w.result.RequeueAfter)
	}
}

// TestRollingOut checks that a cluster stays ready while its control plane is replaced. The rollout is written as progress, and its end at
// once.
func TestRollingOut(t *testing.T) {
	w := newReadyCluster(t)
	plane := func() string {
		t.Helper()
		w.reconcile()
		mc := w.get()
		c := mc.GetCondition(v1alpha1.TypeControlPlaneReady)
		return fmt.Sprintf("%s %s %s", mc.GetCondition(xpv2.TypeReady).Reason, c.Status, c.Reason)
	}
	w.putYAML("Cluster", "status: {conditions: [{type: RollingOut, status: 'True', reason: Words}]}")
	w.putYAML("CAPTControlPlane", "status: {ready: false}")
	var got []string
	w.clock = w.clock.Add(progressInterval)
	got = append(got, plane())
	w.putYAML("CAPTControlPlane", "status: {ready: true}")
	got = append(got, plane())
	w.putYAML("CAPTControlPlane", "status: {ready: false}")
	got = append(got, plane())
	w.clock = w.clock.Add(progressPace)
	got = append(got, plane())
	w.putYAML("CAPTCluster", "status: {ready: false}")
	got = append(got, plane())
	want := []string{"Ready False RollingOut", "Ready True Available", "Ready True Available", "Ready False RollingOut", "Degraded False RollingOut"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Ready and ControlPlaneReady: -want, +got:\n%s", diff)
	}
}

// TestRecreatedUIDIsWrittenAtOnce checks that the UID of a recreated object is written at once, so that its loss is noticed.
func TestRecreatedUIDIsWrittenAtOnce(t *testing.T) {
	w := newReadyCluster(t)
	uid := string(w.getLive("CAPTControlPlane").GetUID())
	w.removeSilently("CAPTControlPlane")
	w.reconcileUntil("ObjectsGone")
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
	})
	w.reconcile()
	w.c.memory.NoteOf(w.get()).pace.ReserveN(w.clock, 1) // No write of progress is due.
	w.reconcile()
	if diff := cmp.Diff(string(w.getLive("CAPTControlPlane").GetUID()), findRecordedUID(w.get().Status.AtProvider, "CAPTControlPlane", "c1")); diff != "" {
		t.Errorf("uid of the CAPTControlPlane: -want, +got:\n%s", diff)
	}
}

// TestDeletionTimeout checks that a deletion over its time limit names the objects that it waits for.
func TestDeletionTimeout(t *testing.T) {
	w := newReadyCluster(t)
	w.must(w.Delete(t.Context(), w.get()))
	timestamp := metav1.NewTime(w.clock)
	w.putYAML("Cluster", fmt.Sprintf("metadata: {deletionTimestamp: '%s', finalizers: [a/b]}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: WaitingForWorkersDeletion, message: two of them}]}", timestamp.Format(time.RFC3339)))
	w.reconcile()
	const late = "DeletionTimedOut: Cluster c1 is still being deleted: WaitingForWorkersDeletion: Cluster c1: two of them"
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; strings.Contains(m, "DeletionTimedOut") {
		t.Errorf("it is late at once: %q", m)
	}
	w.clock = time.Now().Add(defaultDeletion + time.Minute) // The fake client sets the deletion timestamp by the real clock.
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, late) {
		t.Errorf("Synced says %q, which has no %q", m, late)
	}
}
