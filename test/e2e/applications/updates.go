package applications

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// servesImage waits until an image of a commit was delivered and serves.
func (s *sourceStage) servesImage(commit, image string) *unstructured.Unstructured {
	s.T.Helper()
	s.Await(s.app, "delivered "+image, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "image") == image && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	s.awaitRunning(commit)
	return s.Now(s.app)
}

// newBuilder describes a builder like the one that all tests share, with the name of the namespace.
func (s *sourceStage) newBuilder() *unstructured.Unstructured {
	s.T.Helper()
	like := s.kpackObject("ClusterBuilder", kpack.Builder)
	like.SetNamespace("")
	spec, _, _ := unstructured.NestedMap(s.Now(like).Object, "spec")
	builder := s.kpackObject("ClusterBuilder", s.Namespace)
	builder.SetNamespace("")
	s.Set(builder, spec, "spec")
	return s.Set(builder, cp.Registry()+"/kpack/"+s.Namespace, "spec", "tag")
}

// awaitRebuilt gives the builder another stack, and waits until the image that it builds is taken, or not.
func (s *sourceStage) awaitRebuilt(stack string, isTaken bool) {
	s.T.Helper()
	before := scene.Field(s.Now(s.imageBuild()), "status", "atProvider", "latest", "image")
	s.must(s.kpack.UpdateStack(s.T.Context(), stack))
	s.Await(s.imageBuild(), "the image of "+stack, func(u *unstructured.Unstructured) bool {
		if !isTaken {
			return scene.Is(u, "Ready", corev1.ConditionTrue, "RebuildLoop")
		}
		return scene.Field(u, "status", "atProvider", "latest", "image") != before
	})
}
