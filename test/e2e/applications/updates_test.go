package applications

import (
	"fmt"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestManualUpdates has images that are built again of the same commit, by other stacks, in each shape: they wait until an image is approved, and the
// fourth image within an hour is not taken. It runs before the parallel tests, since another stack builds all images again.
func TestManualUpdates(t *testing.T) {
	all := runInEachShape(t, "Manual")
	all[0].requireNoError(all[0].kpack.UpdateStack(t.Context(), "manual 1"))
	approved := map[*runningSource]string{}
	for _, s := range all {
		rebuilt := s.awaitWaitingImage()
		_, digest, _ := strings.Cut(rebuilt, "@")
		s.editApplication(fmt.Sprintf(`{"spec":{"build":{"approved":%q}}}`, digest))
		if got := s.servesImage(s.first, rebuilt); scene.Number(got, "status", "deployment", "revision") != 2 {
			t.Errorf("revision %d after the approval", scene.Number(got, "status", "deployment", "revision"))
		}
		approved[s] = rebuilt
	}
	for i := range 3 {
		all[0].awaitRebuilt(fmt.Sprintf("manual %d", i+2), i < 2)
	}
	for s, want := range approved {
		s.WantEqual("the image, which is the approved one", want, scene.Field(s.Now(s.app), "status", "image"))
	}
}

// TestUpdatesWithSource has images that are built again of the same commit, by another stack, in each shape: they are left to the next commit. It runs before the
// tests that run beside each other, since another stack builds all images again.
func TestUpdatesWithSource(t *testing.T) {
	all := runInEachShape(t, "WithSource")
	all[0].requireNoError(all[0].kpack.UpdateStack(t.Context(), "with source"))
	for _, s := range all {
		rebuilt := s.awaitWaitingImage()
		next := s.awaitRunning(s.pushSourceCommit("main", "2"))
		u := s.Now(s.app)
		waits := scene.Field(u, "status", "build", "waiting", "image")
		if next == s.image || next == rebuilt || waits != "" || scene.Number(u, "status", "deployment", "revision") != 2 {
			t.Errorf("image %s of the next commit, while %q waits", next, waits)
		}
	}
}

// TestBuilderAfterFailure has a commit that cannot be built, until the configuration names another builder: kpack alone would ignore that.
func TestBuilderAfterFailure(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.Apply(s.app)
	s.awaitBuildState("Failed", "StepFailed")
	s.Apply(s.copySharedBuilder())
	s.Patch(s.ClusterProviderConfig(), fmt.Sprintf(`{"spec":{"build":{"builder":{"name":%q}}}}`, s.Namespace))
	s.awaitRunning(s.first)
	if got := len(s.buildsOfApplication()); got != 2 {
		t.Errorf("%d Builds, want the failed Build and a Build with the other builder", got)
	}
}

// TestBuilderCorrected has a commit that cannot be built, until kpack makes another image of the builder, whose name stays: kpack alone would ignore that. A commit
// that fails with the builder as it is then is built once.
func TestBuilderCorrected(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	builder := s.copySharedBuilder()
	s.Apply(builder)
	s.Set(s.app, map[string]any{"kind": "ClusterBuilder", "name": s.Namespace}, "spec", "build", "builder")
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.Apply(s.app)
	u := s.awaitBuildState("Failed", "StepFailed")
	if phase := scene.Field(u, "status", "phase"); phase != "Failed" {
		t.Errorf("phase of a commit that cannot be built: %s", phase)
	}
	s.correctBuilder(builder)
	s.awaitRunning(s.first)
	if got := len(s.buildsOfApplication()); got != 2 {
		t.Errorf("%d Builds, want the failed Build and a Build with the corrected builder", got)
	}
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.pushSourceCommit("main", "2")
	s.awaitBuildState("Failed", "StepFailed")
	s.awaitRunning(s.pushSourceCommit("main", "3"))
	if got := len(s.buildsOfApplication()); got != 4 {
		t.Errorf("%d Builds, want one of each commit with the builder as it is", got)
	}
}

// TestBuilderNotReady names a builder that kpack cannot create, and corrects it.
func TestBuilderNotReady(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	builder := s.copySharedBuilder()
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
