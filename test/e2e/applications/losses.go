package applications

import (
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
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
	s.Until("running again with "+commit, patience.Limit, func() bool {
		s.serveAll(image)
		d, u := s.Now(deployment), s.Now(s.app)
		isDelivered := scene.Field(d, "status", "phase") == "Succeeded" && scene.Field(d, "spec", "expectation", "image") == image
		return isDelivered && scene.Field(u, "status", "image") == image && isRunningCommit(u, commit)
	})
}

// serveAll lets the pods of an image be ready that are not, as far as they still exist.
func (s *stage) serveAll(image string) {
	s.T.Helper()
	for _, p := range s.podsOfImage(image) {
		if p.Status.Phase == corev1.PodRunning {
			continue
		}
		readyStatus(corev1.ConditionTrue)(&p.Status)
		if err := s.edge.Client.Status().Update(s.T.Context(), &p); !kerrors.IsConflict(err) {
			s.must(client.IgnoreNotFound(err))
		}
	}
}
