package sites

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// awaitNotReady waits until a deployment that succeeded is not Ready any more, for a reason of Reconciling or Stalled.
func (s *stage) awaitNotReady(o *unstructured.Unstructured, description, condition, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, description, func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionFalse, "") && scene.Is(u, condition, corev1.ConditionTrue, reason) && scene.Field(u, "status", "phase") == "Succeeded"
	})
}

// forceBranch forces the branch to a commit, and notifies Flux.
func (s *stage) forceBranch(commit string) {
	s.T.Helper()
	_, err := s.Git.Git(s.T.Context(), s.Namespace, "update-ref", "refs/heads/main", commit)
	s.Must(err)
	s.awaitApplied(commit)
}
