package sites

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestWavesOfSites delivers to edge1 first, and to edge2 when that is live. The first wave that fails stops.
func TestWavesOfSites(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "edge1", "edge2")
	s.suspendEngine("edge2", false)
	waves := []any{
		map[string]any{"name": "first", "sites": []any{s.Site("edge1")}},
		map[string]any{"name": "second", "sites": []any{s.Site("edge2")}},
	}
	claim := s.Set(s.Claim("shop", s.intentForSites("shop", 1, "edge1", "edge2")), waves, "spec", "deliveryConfig", "waves")
	s.Apply(claim)
	s.Await(claim, "the first wave is waited for", func(u *unstructured.Unstructured) bool {
		return s.stateOfSite(u, "edge1") == "Syncing" && s.stateOfSite(u, "edge2") == "Pending" && scene.Is(u, "Delivered", corev1.ConditionFalse, "Delivering")
	})
	s.wantRepoReplicas("the second wave waits", "1", "")
	s.AwaitCommits(1)
	s.suspendEngine("edge1", false)
	s.Succeed(claim)
	s.wantRepoReplicas("both waves", "1", "1")
	s.AwaitCommits(2)

	s.suspendEngine("edge1", true)
	s.Set(claim, false, "spec", "rollbackConfig", "autoRollback")
	claim = s.Set(s.Set(claim, s.intentForSites("shop", 2, "edge1", "edge2"), "spec", "intent"), "3s", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Reach(claim, "Failed at the first wave", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "Stalled", corev1.ConditionTrue, "SyncTimedOut") && scene.Is(u, "RolledBack", corev1.ConditionFalse, "RollbackOff") && scene.Is(u, "Recorded", corev1.ConditionTrue, "Recorded")
	})
	s.suspendEngine("edge1", false)
	s.Await(claim, "the first Site is live after all", func(u *unstructured.Unstructured) bool { return s.stateOfSite(u, "edge1") == "Live" })
	s.wantRepoReplicas("the second wave never comes", "2", "1")
	s.AwaitCommits(3)
}
