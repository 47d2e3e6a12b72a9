package applications

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestSourceAndEnvironment edits the branch and a variable at once: the variable waits for the build of the branch, and both come in one revision. How a
// revision is rolled back belongs to no commit, and waits for nothing.
func TestSourceAndEnvironment(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		first := s.awaitRunning(s.first)
		commit, err := s.Git.Commit(s.T.Context(), s.repository, "release", map[string]string{"main.txt": "2"}, "Version 2")
		s.requireNoError(err)
		hold := make(chan struct{})
		s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
		s.editApplication(`{"spec":{"source":{"git":{"revision":"release"}},"env":[{"name":"A","value":"1"}],"deploy":{"rollbackConfig":{"autoRollback":false}}}}`)
		s.awaitBuildState("Building", "Building")
		u := s.Await(s.composedBehind(namespaced, "IntentDeployment"), "another rollbackConfig", func(u *unstructured.Unstructured) bool {
			isAutomatic, ok, _ := unstructured.NestedBool(u.Object, "spec", "rollbackConfig", "autoRollback")
			return ok && !isAutomatic
		})
		if _, ok, _ := unstructured.NestedSlice(u.Object, "spec", "expectation", "runtime", "env"); ok || scene.Field(u, "spec", "expectation", "image") != first {
			s.T.Errorf("the variable goes out with the image before: %v", u.Object["spec"])
		}
		close(hold)
		image := s.awaitRunning(commit)
		if got := scene.Number(s.Now(s.app), "status", "deployment", "revision"); got != 2 {
			s.T.Errorf("revision %d, want one for both edits", got)
		}
		if text := s.deploymentInGit(); !strings.Contains(text, image) || !strings.Contains(text, "name: A\n") {
			s.T.Errorf("the image and the variable are not in Git together:\n%s", text)
		}
	})
}

// TestRepositoryDown has a repository of a source that does not answer, for many looks: the running image stays, and so does the phase. Then the next
// commit is found.
func TestRepositoryDown(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		first := s.awaitRunning(s.first)
		s.Git.Fail(s.repository, 503)
		s.T.Cleanup(func() { s.Git.Fail(s.repository, 0) })
		from := nextTransition(s.Now(s.app))
		second := s.addSourceCommit("2")
		for i := range 3 {
			s.requestRefresh(fmt.Sprint("down ", i))
			s.Await(s.composedImageBuild(), "a look", func(u *unstructured.Unstructured) bool {
				return scene.Field(u, "status", "atProvider", "lookNow") == fmt.Sprint("down ", i) && scene.Field(u, "status", "atProvider", "sourceTrouble", "message") != ""
			})
		}
		u := s.Now(s.app)
		if got := phasesSince(u, from); len(got) > 0 || scene.Field(u, "status", "image") != first || len(s.podsOfImage(first)) != 1 {
			s.T.Errorf("a repository that is down changes phases %v, image %s", got, scene.Field(u, "status", "image"))
		}
		s.Git.Fail(s.repository, 0)
		s.requestRefresh("up")
		s.awaitRunning(second)
	})
}

// TestDeploymentLost deletes the IntentDeployment of an Application of each shape: it is composed again with the image that ran, and nothing is built. The next
// commit runs.
func TestDeploymentLost(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		image := s.awaitRunning(s.first)
		s.loseObjects(s.composedBehind(namespaced, "IntentDeployment"))
		s.awaitRunningAgain(s.first, image)
		if got := len(s.buildsOfApplication()); got != 1 {
			s.T.Errorf("%d Builds after the IntentDeployment was lost, want 1", got)
		}
		if text := s.deploymentInGit(); !strings.Contains(text, image) {
			s.T.Errorf("the image is not in Git:\n%s", text)
		}
		s.wantRegistryImage(s.awaitRunning(s.pushSourceCommit("main", "2")))
	})
}

// TestEverythingLost deletes all objects that an Application of each shape composes, as a restore does that has the Application alone: the commit is built
// again, and runs. The next commit runs.
func TestEverythingLost(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		image := s.awaitRunning(s.first)
		build := s.Now(s.kpackObject("Build", "shop-build-1")).GetUID()
		health := s.composedBehind("delivery.intentplane.dev/v1alpha1", "SiteHealth")
		s.loseObjects(s.composedImageBuild(), health, s.composedBehind(namespaced, "IntentDeployment"))
		s.awaitRunningAgain(s.first, image)
		all := s.buildsOfApplication()
		if len(all) != 1 || all[0].GetUID() == build {
			s.T.Errorf("%d Builds after all objects were lost, want another Build of the same commit", len(all))
		}
		s.wantRegistryImage(image)
		s.wantRegistryImage(s.awaitRunning(s.pushSourceCommit("main", "2")))
	})
}

// TestObjectsLost removes the composed objects of an Application for its build and its pods, as a restore that lost them: the running image stays
// while the same commit is built again.
func TestObjectsLost(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	s.Apply(s.app)
	first := s.awaitRunning(s.first)
	pod := s.podsOfImage(first)[0].GetUID()
	health := s.Now(s.composedBehind("delivery.intentplane.dev/v1alpha1", "SiteHealth"))
	s.Delete(health)
	s.Await(health, "made again", func(u *unstructured.Unstructured) bool {
		return u.GetUID() != health.GetUID() && scene.Is(u, "Ready", corev1.ConditionTrue, "Serving")
	})
	hold := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
	build, image := s.Now(s.composedImageBuild()), s.Now(s.kpackObject("Image", "shop"))
	s.Delete(build)
	s.Await(build, "made again", func(u *unstructured.Unstructured) bool { return u.GetUID() != build.GetUID() })
	s.Await(image, "made again", func(u *unstructured.Unstructured) bool { return u.GetUID() != image.GetUID() })
	u := s.Now(s.app)
	if scene.Field(u, "status", "image") != first || scene.Number(u, "status", "deployment", "revision") != 1 || len(s.podsOfImage(first)) != 1 || s.podsOfImage(first)[0].GetUID() != pod {
		t.Errorf("the running image was changed: %v", u.Object["status"])
	}
	close(hold)
	s.awaitRunning(s.first)
}
