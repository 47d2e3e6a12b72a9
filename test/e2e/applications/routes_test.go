package applications

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestRoute has an Application whose route its Gateway accepts, refuses and accepts again. Each change wakes the Application: the timers of this package's
// control plane are off.
func TestRoute(t *testing.T) {
	t.Parallel()
	s := newStage(t, namespaced)
	s.allowRoutes()
	s.Set(s.app, map[string]any{"host": s.Namespace + ".example.org"}, "spec", "route")
	s.Apply(s.app)
	s.servePods(1)
	s.awaitReached("Running", 1)
	s.awaitRouted(corev1.ConditionFalse)
	for range 2 {
		s.answerRoute("True")
		s.awaitRouted(corev1.ConditionTrue)
		s.awaitCondition("Ready", "True", "Available")
		s.answerRoute("False")
		u := s.awaitRouted(corev1.ConditionFalse)
		if phase := scene.Field(u, "status", "phase"); phase != "Running" {
			t.Errorf("phase of an Application whose route is refused: %s", phase)
		}
	}
}

// awaitRouted waits until condition Routed of the Application has a status.
func (s *stage) awaitRouted(want corev1.ConditionStatus) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, "Routed="+string(want), func(u *unstructured.Unstructured) bool { return scene.Condition(u, "Routed").Status == want })
}
