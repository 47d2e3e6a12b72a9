package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestExisting watches a Cluster of somebody else's: it is told what becomes of it, and nothing is written.
func TestExisting(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("theirs", s.existing())
	s.Set(mc, []any{"Observe"}, "spec", "managementPolicies")
	s.Apply(mc)
	s.reason(mc, "ObjectMissing")
	s.Apply(s.own())
	s.ready(mc)
	s.Patch(s.cluster(), `{"spec":{"paused":true}}`)
	s.paused(mc)
	s.Delete(mc)
	s.gone(mc)
	s.stays(s.cluster())
	s.audited(0)
	if w := s.writes(provider); len(w) > 0 {
		t.Errorf("it is only watched: %+v", w)
	}
}

// TestPaused writes nothing to a Cluster while it is paused, and what was asked for meanwhile when it is not any more.
func TestPaused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("mine", s.topology())
	s.Apply(mc)
	s.ready(mc)
	s.Patch(s.cluster(), `{"spec":{"paused":true}}`)
	s.paused(mc)
	before := len(s.writes(provider))
	s.Set(mc, map[string]any{"team": "a"}, "spec", "forProvider", "labels")
	s.Set(mc, newVersion, "spec", "forProvider", "version")
	s.Apply(mc)
	s.reason(mc, "Ready")
	if after := s.writes(provider); len(after) > before {
		t.Errorf("a paused Cluster was written to: %+v", after[before:])
	}
	s.Patch(s.cluster(), `{"spec":{"paused":false}}`)
	s.until(s.cluster(), "is as asked for", func(u *unstructured.Unstructured) bool {
		return u.GetLabels()["team"] == "a" && scene.Field(u, "spec", "topology", "version") == newVersion
	})
	s.Delete(mc)
	s.gone(mc)
	s.audited(3)
}

// TestSomebodyElseDeletes the Cluster: it is not made again, and another one of that name is another cluster.
func TestSomebodyElseDeletes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("mine", s.topology())
	s.Apply(mc)
	uid := scene.Field(s.ready(mc), "status", "atProvider", "uid")
	worker := s.one("cluster.x-k8s.io/v1beta2", "MachineDeployment")
	s.hold(worker)
	s.Delete(s.cluster())
	s.contains(mc, "Ready", "Deleting: Cluster "+name)
	s.release(worker)
	s.contains(mc, "Ready", "ObjectsGone", "Cluster "+name+" with uid "+uid, "recreate="+uid)
	s.gone(s.cluster())

	s.Apply(s.own())
	s.until(s.cluster(), "is provisioned", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Provisioned" })
	now := s.reason(mc, "ObjectsGone")
	if got := scene.Field(now, "status", "atProvider", "uid"); got != uid {
		t.Errorf("it took another Cluster, %s, for the one that is gone, %s", got, uid)
	}
	s.Delete(mc)
	s.gone(mc)
	s.stays(s.cluster())
	for _, w := range s.writes(provider) {
		if w.Verb == "delete" {
			t.Errorf("it deleted another Cluster: %+v", w)
		}
	}
	s.audited(1)
}

// TestRecreated makes a Cluster again once a person says that it is really lost.
func TestRecreated(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("mine", s.topology())
	s.Apply(mc)
	uid := scene.Field(s.ready(mc), "status", "atProvider", "uid")
	s.Delete(s.cluster())
	s.reason(mc, "ObjectsGone")
	s.Patch(mc, `{"metadata":{"annotations":{"cluster.intentplane.dev/recreate":"`+uid+`"}}}`)
	again := s.until(mc, "is another cluster", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "uid") != uid && scene.Condition(u, "Ready").Reason == "Ready"
	})
	if diff := cmp.Diff(string(s.Now(s.cluster()).GetUID()), scene.Field(again, "status", "atProvider", "uid")); diff != "" {
		t.Errorf("uid: -want, +got:\n%s", diff)
	}
	s.Delete(mc)
	s.gone(mc)
	s.gone(s.cluster())
}

// TestContractUnknown refuses what does not say which contract it follows.
func TestContractUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.must(s.ApplyYAML(t.Context(), []byte(unlabelled)))
	own := s.cluster()
	s.Set(own, map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "UnlabelledCluster", "name": name}, "spec", "infrastructureRef")
	s.Set(own, true, "spec", "paused")
	s.Until("the kind is served", patience, func() bool { return s.ApplyObject(t.Context(), own.DeepCopy()) == nil })
	mc := s.managed("theirs", s.existing())
	s.Apply(mc)
	u := s.contains(mc, "Ready", "ContractUnknown", "UnlabelledCluster "+name)
	if !scene.Is(u, "InfrastructureReady", corev1.ConditionUnknown, "ContractUnknown") {
		t.Errorf("InfrastructureReady: %+v", scene.Condition(u, "InfrastructureReady"))
	}
	s.Delete(mc)
	s.gone(mc)
	s.audited(0)
}
