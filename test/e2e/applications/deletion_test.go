package applications

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
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
			s.servePods(1)
			s.awaitReached("Running", 1)
		}},
		"Degraded": {reason: "An Application whose image was rolled back leaves nothing.", shape: claims, given: func(s *stage) {
			s.limitProgress(progressTimeout)
			s.Apply(s.app)
			s.servePods(1)
			s.awaitReached("Running", 1)
			s.editApplication(fmt.Sprintf(`{"spec":{"image":%q}}`, imageOf(2)))
			s.crashContainers(2)
			s.awaitRolledBack(2)
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
	otherShape := map[string]string{claims: namespaced, namespaced: claims}
	for name, tc := range deletedPhases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.deleteIn(t, otherShape[tc.shape])
		})
	}
}

func (p deletedPhase) deleteIn(t *testing.T, shape string) {
	t.Helper()
	s := newStage(t, shape)
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
		s.pushCommit("main", "2")
		u := s.awaitBuildState("Building", "Building")
		if phase := scene.Field(u, "status", "phase"); phase != "Building" {
			s.T.Errorf("phase of an Application whose next commit is built: %s", phase)
		}
		s.wantNothingLeft("An Application that is built leaves nothing.")
	})
}
