package applications

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestManualUpdates has images that are built again of the same commit, by other stacks: they wait until one is approved, and the fourth one within an hour is
// not taken. It runs before the tests that run beside each other, since another stack builds all images again.
func TestManualUpdates(t *testing.T) {
	s := newSourceStage(t, claims)
	s.Set(s.app, "Manual", "spec", "build", "updates")
	s.Apply(s.app)
	first := s.awaitRunning(s.first)
	s.must(s.kpack.UpdateStack(t.Context(), "manual 1"))
	u := s.Await(s.app, "a rebuilt image that waits", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "build", "waiting", "image") != ""
	})
	rebuilt := scene.Field(u, "status", "build", "waiting", "image")
	if got := scene.Field(u, "status", "image"); got != first || rebuilt == first || scene.Number(u, "status", "deployment", "revision") != 1 {
		t.Errorf("image %s while %s waits", got, rebuilt)
	}
	_, digest, _ := strings.Cut(rebuilt, "@")
	s.editApplication(fmt.Sprintf(`{"spec":{"build":{"approved":%q}}}`, digest))
	if got := s.servesImage(s.first, rebuilt); scene.Number(got, "status", "deployment", "revision") != 2 {
		t.Errorf("revision %d after the approval", scene.Number(got, "status", "deployment", "revision"))
	}
	for i := range 3 {
		s.awaitRebuilt(fmt.Sprintf("manual %d", i+2), i < 2)
	}
	if got := scene.Field(s.Now(s.app), "status", "image"); got != rebuilt {
		t.Errorf("image %s, want the approved one", got)
	}
}

// TestUpdatesWithSource has an image that is built again of the same commit, by another stack: it is left to the next commit. It runs before the tests that run
// beside each other, since another stack builds all images again.
func TestUpdatesWithSource(t *testing.T) {
	s := newSourceStage(t, namespaced)
	s.Set(s.app, "WithSource", "spec", "build", "updates")
	s.Apply(s.app)
	first := s.awaitRunning(s.first)
	s.must(s.kpack.UpdateStack(t.Context(), "with source"))
	u := s.Await(s.app, "a rebuilt image that waits", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "build", "waiting", "image") != ""
	})
	rebuilt := scene.Field(u, "status", "build", "waiting", "image")
	if got := scene.Field(u, "status", "image"); got != first || rebuilt == first || scene.Number(u, "status", "deployment", "revision") != 1 {
		t.Errorf("image %s while %s waits", got, rebuilt)
	}
	next := s.awaitRunning(s.pushCommit("main", "2"))
	u = s.Now(s.app)
	if waits := scene.Field(u, "status", "build", "waiting", "image"); next == first || next == rebuilt || waits != "" || scene.Number(u, "status", "deployment", "revision") != 2 {
		t.Errorf("image %s of the next commit, while %q waits", next, waits)
	}
}

// TestBuilderAfterFailure has a commit that cannot be built, until the configuration names another builder: kpack alone would ignore that.
func TestBuilderAfterFailure(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.Apply(s.app)
	s.awaitBuildState("Failed", "StepFailed")
	s.Apply(s.newBuilder())
	s.Patch(s.ClusterProviderConfig(), fmt.Sprintf(`{"spec":{"build":{"builder":{"name":%q}}}}`, s.Namespace))
	s.awaitRunning(s.first)
	if got := len(s.buildsOfApplication()); got != 2 {
		t.Errorf("%d Builds, want the one that failed and one with the other builder", got)
	}
}

// TestBuilderNotReady names a builder that kpack cannot make, and is mended.
func TestBuilderNotReady(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	builder := s.newBuilder()
	stack := scene.Field(builder, "spec", "stack", "name")
	s.Apply(s.Set(builder, "none", "spec", "stack", "name"))
	s.Set(s.app, map[string]any{"kind": "ClusterBuilder", "name": s.Namespace}, "spec", "build", "builder")
	s.Apply(s.app)
	u := s.awaitBuildState("Waiting", "BuilderNotReady")
	if phase := scene.Field(u, "status", "phase"); phase != "Pending" || len(s.buildsOfApplication()) != 0 {
		t.Errorf("phase %s with %d Builds", phase, len(s.buildsOfApplication()))
	}
	s.Patch(builder, fmt.Sprintf(`{"spec":{"stack":{"name":%q}}}`, stack))
	s.awaitRunning(s.first)
}
