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

// topology is what core says of the topology of the Cluster, of a generation of it.
func (w *world) topology(class string, generation int, status string) {
	w.Helper()
	w.yaml("Cluster", fmt.Sprintf(`
metadata: {generation: %d}
spec: {topology: {classRef: {name: %s}}}
status: {conditions: [{type: TopologyReconciled, status: '%s', reason: Words, observedGeneration: %d}]}`, generation, class, status, generation))
}

// TestRebase remembers which ClusterClass a cluster was made of, and that it gets another one.
func TestRebase(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.topology("a", 1, "True")
	w.built()
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting}})
	w.until(ready)
	is := func(what string, want v1alpha1.ObservedTopology) {
		t.Helper()
		w.reconcile()
		got := w.get().Status.AtProvider.Topology
		if got == nil {
			t.Fatalf("%s: nothing is known", what)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", what, diff)
		}
	}
	after := func(d time.Duration) { w.reconcile(); w.clock = w.clock.Add(d) }
	after(progressInterval)
	is("it is made of a", v1alpha1.ObservedTopology{Class: "a"})
	w.topology("b", 2, "False")
	is("the Cluster names b", v1alpha1.ObservedTopology{Class: "a", Rebasing: true, Reason: "Words"})
	// Core says that it is done before it sees what follows from that.
	w.topology("b", 2, "True")
	after(readiness.Stabilization - time.Second)
	is("it is done, and not for long enough", v1alpha1.ObservedTopology{Class: "a", Rebasing: true})
	w.topology("b", 2, "False")
	after(2 * time.Second)
	w.topology("b", 2, "True")
	after(readiness.Stabilization - time.Second)
	is("it was interrupted", v1alpha1.ObservedTopology{Class: "a", Rebasing: true})
	if w.result.RequeueAfter > time.Second {
		t.Errorf("it is looked at again after %s only", w.result.RequeueAfter)
	}
	after(time.Second)
	is("it is made of b", v1alpha1.ObservedTopology{Class: "b"})
	w.topology("d", 2, "True")
	after(time.Second)
	is("core was done at once", v1alpha1.ObservedTopology{Class: "b", Rebasing: true})
	w.topology("b", 2, "True")
	after(progressInterval)
	is("it is made of b again", v1alpha1.ObservedTopology{Class: "b"})
	w.topology("c", 3, "False")
	is("the Cluster names c", v1alpha1.ObservedTopology{Class: "b", Rebasing: true, Reason: "Words"})
	w.topology("b", 4, "False")
	after(progressInterval)
	is("the way back is one too", v1alpha1.ObservedTopology{Class: "b", Rebasing: true, Reason: "Words"})
	w.topology("b", 4, "True")
	after(progressInterval)
	is("and is done", v1alpha1.ObservedTopology{Class: "b"})
	w.topology("b", 4, "False")
	after(progressInterval)
	is("what is done for another reason is not told", v1alpha1.ObservedTopology{Class: "b"})
	w.topology("b", 4, "True")
	after(progressInterval)
	w.reconcile()
	if w.result.RequeueAfter < time.Minute {
		t.Errorf("it is looked at again after %s", w.result.RequeueAfter)
	}
}

// TestRollingOut stays ready while the control plane is replaced, and tells of that as of any progress. That it is over is told at once.
func TestRollingOut(t *testing.T) {
	w := settled(t)
	plane := func() string {
		t.Helper()
		w.reconcile()
		mc := w.get()
		c := mc.GetCondition(v1alpha1.TypeControlPlaneReady)
		return fmt.Sprintf("%s %s %s", mc.GetCondition(xpv2.TypeReady).Reason, c.Status, c.Reason)
	}
	w.yaml("Cluster", "status: {conditions: [{type: RollingOut, status: 'True', reason: Words}]}")
	w.yaml("CAPTControlPlane", "status: {ready: false}")
	var got []string
	w.clock = w.clock.Add(progressInterval)
	got = append(got, plane())
	w.yaml("CAPTControlPlane", "status: {ready: true}")
	got = append(got, plane())
	w.yaml("CAPTControlPlane", "status: {ready: false}")
	got = append(got, plane())
	w.clock = w.clock.Add(progressPace)
	got = append(got, plane())
	w.yaml("CAPTCluster", "status: {ready: false}")
	got = append(got, plane())
	want := []string{"Ready False RollingOut", "Ready True Available", "Ready True Available", "Ready False RollingOut", "Degraded False RollingOut"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Ready and ControlPlaneReady: -want, +got:\n%s", diff)
	}
}

// TestMadeAgain remembers at once which object was made, or it would be missed by nobody when it goes.
func TestMadeAgain(t *testing.T) {
	w := settled(t)
	uid := string(w.live("CAPTControlPlane").GetUID())
	w.vanish("CAPTControlPlane")
	w.until("ObjectsGone")
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
	})
	w.reconcile()
	w.c.memory.of(key()).pace.ReserveN(w.clock, 1) // No progress is due.
	w.reconcile()
	if diff := cmp.Diff(string(w.live("CAPTControlPlane").GetUID()), uidOf(w.get().Status.AtProvider, "CAPTControlPlane", "c1")); diff != "" {
		t.Errorf("uid of the CAPTControlPlane: -want, +got:\n%s", diff)
	}
}

// TestDeletionTimedOut says what a deletion waits for that takes too long.
func TestDeletionTimedOut(t *testing.T) {
	w := settled(t)
	w.must(w.Delete(t.Context(), w.get()))
	at := metav1.NewTime(w.clock)
	w.yaml("Cluster", fmt.Sprintf("metadata: {deletionTimestamp: '%s', finalizers: [a/b]}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: WaitingForWorkersDeletion, message: two of them}]}", at.Format(time.RFC3339)))
	w.reconcile()
	const late = "DeletionTimedOut: Cluster c1 is still being deleted: WaitingForWorkersDeletion: Cluster c1: two of them"
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; strings.Contains(m, "DeletionTimedOut") {
		t.Errorf("it is late at once: %q", m)
	}
	w.clock = time.Now().Add(defaultDeletion + time.Minute) // The client says when the ManagedCluster's deletion began.
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, late) {
		t.Errorf("Synced says %q, which has no %q", m, late)
	}
}
