package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestShapesOfOneName want one ManagedCluster. The first shape keeps it; the second shape gets a condition, changes nothing, removes
// nothing, and has the name when the first is deleted.
func TestShapesOfOneName(t *testing.T) {
	t.Parallel()
	s := newStage(t)
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
	s.awaitGone(second)
	wantUnchanged()
	refused()
	s.Delete(first)
	s.awaitObject(mc, "is the second one's", func(u *unstructured.Unstructured) bool {
		team, _, _ := unstructured.NestedString(u.Object, "spec", "forProvider", "labels", "team")
		return u.GetUID() != original.GetUID() && team == "b"
	})
	s.awaitObject(second, "has its name", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", corev1.ConditionTrue, "") })
	s.Delete(second)
	s.awaitGone(second)
	s.awaitGone(mc)
}
