package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestExistingCluster watches a Cluster of another user: the status follows it, and the provider writes nothing.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	mc := s.describeManaged("theirs", s.existingCluster())
	s.Set(mc, []any{"Observe"}, "spec", "managementPolicies")
	s.Apply(mc)
	s.awaitReason(mc, "ObjectMissing")
	s.Apply(s.clusterByHand())
	s.awaitClusterReady(mc)
	s.Patch(s.clusterNamed(), `{"spec":{"paused":true}}`)
	s.awaitPaused(mc)
	s.Delete(mc)
	s.awaitObjectGone(mc)
	s.wantNotDeleted(s.clusterNamed())
	s.wantOnlyOurWrites(0)
	if w := s.writesOfUser(provider); len(w) > 0 {
		t.Errorf("it is only watched: %+v", w)
	}
}

// TestPausedCluster writes nothing to a Cluster while it is paused, and writes the requested changes when it is resumed.
func TestPausedCluster(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	mc := s.describeManaged("mine", s.describeTopology())
	s.Apply(mc)
	s.awaitClusterReady(mc)
	s.Patch(s.clusterNamed(), `{"spec":{"paused":true}}`)
	s.awaitPaused(mc)
	baseline := len(s.writesOfUser(provider))
	s.Set(mc, map[string]any{"team": "a"}, "spec", "forProvider", "labels")
	s.Set(mc, newVersion, "spec", "forProvider", "version")
	s.Apply(mc)
	s.awaitReason(mc, "Ready")
	if writes := s.writesOfUser(provider); len(writes) > baseline {
		t.Errorf("a paused Cluster was written to: %+v", writes[baseline:])
	}
	s.Patch(s.clusterNamed(), `{"spec":{"paused":false}}`)
	s.awaitObject(s.clusterNamed(), "is as asked for", func(u *unstructured.Unstructured) bool {
		return u.GetLabels()["team"] == "a" && scene.Field(u, "spec", "topology", "version") == newVersion
	})
	s.Delete(mc)
	s.awaitObjectGone(mc)
	s.wantOnlyOurWrites(3)
}

// TestSomebodyElseDeletes has another user delete the Cluster: it is not created again, and another Cluster of that name is
// another cluster.
func TestSomebodyElseDeletes(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	mc := s.describeManaged("mine", s.describeTopology())
	s.Apply(mc)
	uid := scene.Field(s.awaitClusterReady(mc), "status", "atProvider", "uid")
	worker := s.onlyObjectOfKind("cluster.x-k8s.io/v1beta2", "MachineDeployment")
	s.addTestFinalizer(worker)
	s.Delete(s.clusterNamed())
	s.awaitMessage(mc, "Ready", "Deleting: Cluster "+name)
	s.releaseObject(worker)
	s.awaitMessage(mc, "Ready", "ObjectsGone", "Cluster "+name+" with uid "+uid, "recreate="+uid)
	s.awaitObjectGone(s.clusterNamed())

	s.Apply(s.clusterByHand())
	s.awaitObject(s.clusterNamed(), "is provisioned", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Provisioned" })
	now := s.awaitReason(mc, "ObjectsGone")
	if got := scene.Field(now, "status", "atProvider", "uid"); got != uid {
		t.Errorf("the provider took another Cluster, %s, for the deleted Cluster, %s", got, uid)
	}
	s.Delete(mc)
	s.awaitObjectGone(mc)
	s.wantNotDeleted(s.clusterNamed())
	for _, w := range s.writesOfUser(provider) {
		if w.Verb == "delete" {
			t.Errorf("it deleted another Cluster: %+v", w)
		}
	}
	s.wantOnlyOurWrites(1)
}

// TestRecreatedCluster recreates a Cluster after a user's annotation that it is lost.
func TestRecreatedCluster(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	mc := s.describeManaged("mine", s.describeTopology())
	s.Apply(mc)
	uid := scene.Field(s.awaitClusterReady(mc), "status", "atProvider", "uid")
	s.Delete(s.clusterNamed())
	s.awaitReason(mc, "ObjectsGone")
	s.Patch(mc, `{"metadata":{"annotations":{"cluster.intentplane.dev/recreate":"`+uid+`"}}}`)
	recreated := s.awaitObject(mc, "is another cluster", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "uid") != uid && scene.Condition(u, "Ready").Reason == "Ready"
	})
	if diff := cmp.Diff(string(s.Now(s.clusterNamed()).GetUID()), scene.Field(recreated, "status", "atProvider", "uid")); diff != "" {
		t.Errorf("uid: -want, +got:\n%s", diff)
	}
	s.Delete(mc)
	s.awaitObjectGone(mc)
	s.awaitObjectGone(s.clusterNamed())
}

// TestContractUnknown refuses a definition without a contract version.
func TestContractUnknown(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	s.Must(s.ApplyYAML(t.Context(), []byte(unlabelled)))
	cluster := s.clusterNamed()
	s.Set(cluster, map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "UnlabelledCluster", "name": name}, "spec", "infrastructureRef")
	s.Set(cluster, true, "spec", "paused")
	s.Until("the kind is served", patience.Limit, func() bool { return s.ApplyObject(t.Context(), cluster.DeepCopy()) == nil })
	mc := s.describeManaged("theirs", s.existingCluster())
	s.Apply(mc)
	u := s.awaitMessage(mc, "Ready", "ContractUnknown", "UnlabelledCluster "+name)
	if !scene.Is(u, "InfrastructureReady", corev1.ConditionUnknown, "ContractUnknown") {
		t.Errorf("InfrastructureReady: %+v", scene.Condition(u, "InfrastructureReady"))
	}
	s.Delete(mc)
	s.awaitObjectGone(mc)
	s.wantOnlyOurWrites(0)
}

// TestShapesOfOneName want one ManagedCluster. The first shape keeps it; the second shape gets a condition, changes nothing, removes
// nothing, and has the name when the first is deleted.
func TestShapesOfOneName(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	first, mc := s.describeWorkload("north", s.existingCluster()), s.describeManaged("north", nil)
	s.Apply(first)
	s.awaitMessage(mc, "Ready", "ObjectMissing")
	original := s.Now(mc)
	second := s.describeWorkload("north", s.existingCluster())
	second.SetAPIVersion("intentplane.dev/v1alpha1")
	s.Set(second, map[string]any{"team": "b"}, "spec", "labels")
	refused := func() {
		t.Helper()
		s.Apply(second.DeepCopy())
		s.awaitObject(second, "has a condition about its taken name", func(u *unstructured.Unstructured) bool {
			return scene.Is(u, "Valid", corev1.ConditionFalse, "NameTaken") && scene.Is(u, "Stalled", corev1.ConditionTrue, "NameTaken") &&
				scene.Is(u, "Synced", corev1.ConditionTrue, "") && scene.Field(u, "status", "phase") == "Failed"
		})
	}
	wantUnchanged := func() {
		t.Helper()
		now := s.Now(mc)
		if diff := cmp.Diff(original.Object["spec"], now.Object["spec"]); diff != "" || now.GetUID() != original.GetUID() || now.GetDeletionTimestamp() != nil {
			t.Errorf("uid %s, was %s; spec of the first one's ManagedCluster: -want, +got:\n%s", now.GetUID(), original.GetUID(), diff)
		}
	}
	refused()
	wantUnchanged()
	s.Delete(second)
	s.awaitObjectGone(second)
	wantUnchanged()
	refused()
	s.Delete(first)
	s.awaitObject(mc, "is the second one's", func(u *unstructured.Unstructured) bool {
		team, _, _ := unstructured.NestedString(u.Object, "spec", "forProvider", "labels", "team")
		return u.GetUID() != original.GetUID() && team == "b"
	})
	s.awaitObject(second, "has its name", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", corev1.ConditionTrue, "") })
	s.Delete(second)
	s.awaitObjectGone(second)
	s.awaitObjectGone(mc)
}
