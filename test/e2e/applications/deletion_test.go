package applications

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A deletedPhase is a phase in which an Application of a shape is deleted.
type deletedPhase struct {
	reason string
	shape  string
	given  func(s *stage)
}

func deletedPhases() map[string]deletedPhase {
	return map[string]deletedPhase{
		"Pending": {reason: "An Application that is held back leaves nothing.", shape: claims, given: func(s *stage) {
			s.Apply(s.Set(s.app, true, "spec", "deploy", "suspend"))
			s.Await(s.app, "held back", func(u *unstructured.Unstructured) bool {
				return strings.Contains(scene.Field(u, "status", "message"), "Nothing was ordered yet")
			})
		}},
		"Failed": {reason: "An Application that cannot be carried out leaves nothing.", shape: namespaced, given: func(s *stage) {
			check := map[string]any{"name": "own", "type": "Prometheus", "threshold": "< 1", "prometheus": map[string]any{"query": "x["}}
			s.Apply(s.Set(s.app, []any{check}, "spec", "deploy", "gatesConfig", "checks"))
			s.awaitReached("Failed", 1)
		}},
		"Deploying": {reason: "An Application without an available pod leaves nothing.", shape: namespaced, given: func(s *stage) {
			s.Apply(s.app)
			s.awaitDeployed(1)
		}},
		"Running": {reason: "An Application that runs leaves nothing.", shape: claims, given: func(s *stage) {
			s.Apply(s.app)
			s.reportPodsReady(1)
			s.awaitReached("Running", 1)
		}},
		"Degraded": {reason: "An Application whose image was rolled back leaves nothing.", shape: claims, given: func(s *stage) {
			s.limitProgress(ampleTimeout)
			s.Apply(s.app)
			s.reportPodsReady(1)
			s.awaitReached("Running", 1)
			s.editAppImage(2, progressTimeout)
			s.awaitRolledBack(2) // No pod of the image serves.
		}},
	}
}

// TestDeletedWithNamespace deletes the namespace of Applications that stand in different phases: all leaves the repository, and nothing holds the namespace.
func TestDeletedWithNamespace(t *testing.T) {
	t.Parallel()
	for name, tc := range deletedPhases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.deleteIn(t, tc.shape)
		})
	}
}

// TestDeletedInOtherShape does the same with Applications of the other shape.
func TestDeletedInOtherShape(t *testing.T) {
	t.Parallel()
	for name, tc := range deletedPhases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.deleteIn(t, otherShapeOf(tc.shape))
		})
	}
}

// TestDeletedAlone deletes Applications of the other shape that stand in different phases, while their namespaces live: their objects and files go.
func TestDeletedAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range deletedPhases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAppStage(t, otherShapeOf(tc.shape))
			tc.given(s)
			s.wantAllDeleted()
			s.wantNoFiles(tc.reason)
		})
	}
}

// otherShapeOf returns the apiVersion of the other shape.
func otherShapeOf(apiVersion string) string {
	if apiVersion == claims {
		return namespaced
	}
	return claims
}

func (p deletedPhase) deleteIn(t *testing.T, shape string) {
	t.Helper()
	s := newAppStage(t, shape)
	p.given(s)
	s.wantNothingLeft(p.reason)
}

// TestBuiltDeletedWithNamespace deletes the namespace of an Application whose first commit runs, while the next commit is built: the Build, its pod
// and the Image hold nothing.
func TestBuiltDeletedWithNamespace(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		s.awaitRunning(s.first)
		hold := make(chan struct{})
		s.T.Cleanup(func() { close(hold) })
		s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
		s.pushSourceCommit("main", "2")
		u := s.awaitBuildState("Building", "Building")
		if phase := scene.Field(u, "status", "phase"); phase != "Building" {
			s.T.Errorf("phase of an Application whose next commit is built: %s", phase)
		}
		s.wantNothingLeft("An Application that is built leaves nothing.")
	})
}

// A deletedBuild is a phase in which an Application of a shape is deleted that is built from source.
type deletedBuild struct {
	reason string
	shape  string
	given  func(s *sourceStage)
}

func deletedBuilds() map[string]deletedBuild {
	return map[string]deletedBuild{
		"Pending": {reason: "An Application whose branch does not exist leaves nothing.", shape: claims, given: func(s *sourceStage) {
			s.setSourceRevision("release")
			s.Apply(s.app)
			s.awaitBuildState("Waiting", "RevisionNotFound")
		}},
		"Building": {reason: "An Application whose first image is being built leaves nothing.", shape: namespaced, given: func(s *sourceStage) {
			hold := make(chan struct{})
			s.T.Cleanup(func() { close(hold) })
			s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
			s.Apply(s.app)
			s.awaitBuildState("Building", "Building")
		}},
		"Failed": {reason: "An Application that cannot be built leaves nothing.", shape: claims, given: func(s *sourceStage) {
			s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
			s.Apply(s.app)
			s.awaitBuildState("Failed", "StepFailed")
		}},
		"Deploying": {reason: "A built Application without an available pod leaves nothing.", shape: claims, given: func(s *sourceStage) {
			s.Apply(s.app)
			s.awaitVerifiedImage(s.first)
		}},
		"Running": {reason: "A built Application that runs leaves nothing.", shape: namespaced, given: func(s *sourceStage) {
			s.Apply(s.app)
			s.awaitRunning(s.first)
		}},
		"Degraded": {reason: "An Application whose commit was rolled back leaves nothing.", shape: namespaced, given: func(s *sourceStage) {
			s.Set(s.app, []any{judges.singleWebCheck(s.Namespace)}, "spec", "deploy", "gatesConfig", "checks")
			s.Apply(s.app)
			s.awaitRunning(s.first)
			judges.setJudgeAnswer(s.Namespace, true)
			bad := s.pushSourceCommit("main", "2")
			s.Await(s.app, "Degraded with commit "+bad, func(u *unstructured.Unstructured) bool {
				return scene.Field(u, "status", "phase") == "Degraded" && scene.Field(u, "status", "commit") == bad
			})
		}},
	}
}

// TestBuiltDeletedAlone deletes Applications that are built from source, in each phase: their Image and Builds go, too.
func TestBuiltDeletedAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range deletedBuilds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSourceStage(t, tc.shape)
			tc.given(s)
			s.wantAllDeleted()
			s.Gone(s.composedImageBuild())
			s.Gone(s.kpackObject("Image", "shop"))
			s.Until("the Builds go with their Image", patience.Limit, func() bool { return len(s.buildsOfApplication()) == 0 })
			s.wantNoFiles(tc.reason)
		})
	}
}
