package applications

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// awaitServing waits until the Application has a phase, and so many of its Sites serve.
func (s *stage) awaitServing(phase, available string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, phase+" with "+available, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "available") == available
	})
}
