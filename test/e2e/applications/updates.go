package applications

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// A runningSource is an Application whose first commit runs as an image.
type runningSource struct {
	*sourceStage

	image string
}

// runInEachShape returns an Application of each shape, which takes images that are built again as spec.build.updates says.
func runInEachShape(t *testing.T, updates string) []*runningSource {
	t.Helper()
	out := []*runningSource{}
	for _, shape := range []string{claims, namespaced} {
		s := newSourceStage(t, shape)
		s.Apply(s.Set(s.app, updates, "spec", "build", "updates"))
		out = append(out, &runningSource{sourceStage: s, image: s.awaitRunning(s.first)})
	}
	return out
}

// awaitWaitingImage waits until an image that was built again waits, and returns it. The first one serves meanwhile.
func (s *runningSource) awaitWaitingImage() string {
	s.T.Helper()
	u := s.Await(s.app, "a rebuilt image that waits", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "build", "waiting", "image") != ""
	})
	rebuilt := scene.Field(u, "status", "build", "waiting", "image")
	if got := scene.Field(u, "status", "image"); got != s.image || rebuilt == s.image || scene.Number(u, "status", "deployment", "revision") != 1 {
		s.T.Errorf("image %s while %s waits", got, rebuilt)
	}
	return rebuilt
}

// servesImage waits until an image of a commit was delivered and serves.
func (s *sourceStage) servesImage(commit, image string) *unstructured.Unstructured {
	s.T.Helper()
	s.Await(s.app, "delivered "+image, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "image") == image && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	s.awaitRunning(commit)
	return s.Now(s.app)
}

// copySharedBuilder describes a builder like the shared builder of all tests, with the name of the namespace.
func (s *sourceStage) copySharedBuilder() *unstructured.Unstructured {
	s.T.Helper()
	like := s.kpackObject("ClusterBuilder", kpack.Builder)
	like.SetNamespace("")
	spec, _, _ := unstructured.NestedMap(s.Now(like).Object, "spec")
	builder := s.kpackObject("ClusterBuilder", s.Namespace)
	builder.SetNamespace("")
	s.Set(builder, spec, "spec")
	return s.Set(builder, cp.Registry()+"/kpack/"+s.Namespace, "spec", "tag")
}

// correctBuilder changes the order of a builder, and waits until kpack made another image of it.
func (s *sourceStage) correctBuilder(builder *unstructured.Unstructured) {
	s.T.Helper()
	previous := scene.Field(s.Now(builder), "status", "latestImage")
	s.Patch(builder, `{"spec":{"order":[{"group":[{"id":"example/app","optional":true}]}]}}`)
	s.Await(builder, "another image", func(u *unstructured.Unstructured) bool {
		image := scene.Field(u, "status", "latestImage")
		return image != "" && image != previous
	})
}

// awaitRebuilt gives the builder another stack, and waits until the image that it builds is taken, or not.
func (s *sourceStage) awaitRebuilt(stack string, isTaken bool) {
	s.T.Helper()
	previous := scene.Field(s.Now(s.composedImageBuild()), "status", "atProvider", "latest", "image")
	s.requireNoError(s.kpack.UpdateStack(s.T.Context(), stack))
	s.Await(s.composedImageBuild(), "the image of "+stack, func(u *unstructured.Unstructured) bool {
		if !isTaken {
			return scene.Is(u, "Ready", corev1.ConditionTrue, "RebuildLoop")
		}
		return scene.Field(u, "status", "atProvider", "latest", "image") != previous
	})
}
