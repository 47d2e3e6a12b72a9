package applications

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// loseObjects deletes composed objects of the Application, and waits until each was composed again.
func (s *sourceStage) loseObjects(all ...*unstructured.Unstructured) {
	s.T.Helper()
	lost := make([]*unstructured.Unstructured, 0, len(all))
	for _, o := range all {
		lost = append(lost, s.Now(o))
	}
	for _, o := range lost {
		s.Delete(o)
	}
	for _, o := range lost {
		s.Await(o, "composed again", func(u *unstructured.Unstructured) bool { return u.GetUID() != o.GetUID() })
	}
}

// awaitRunningAgain waits until the present IntentDeployment succeeded with an image, and the Application runs the image of a commit. The pods of the image
// serve, also after the engine replaced them.
func (s *sourceStage) awaitRunningAgain(commit, image string) {
	s.T.Helper()
	deployment := s.composedBehind(namespaced, "IntentDeployment")
	s.readyPodsUntil("running again with "+commit, image, func() bool {
		d, u := s.Now(deployment), s.Now(s.app)
		isDelivered := scene.Field(d, "status", "phase") == "Succeeded" && scene.Field(d, "spec", "expectation", "image") == image
		return isDelivered && scene.Field(u, "status", "image") == image && isRunningCommit(u, commit)
	})
}
