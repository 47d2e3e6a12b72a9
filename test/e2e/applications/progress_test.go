package applications

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestProgressTimeout has an image whose container ends again and again: with a progressTimeout it is rejected and rolled back in Git, while the image before
// serves, and the next image runs.
func TestProgressTimeout(t *testing.T) {
	t.Parallel()
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAppStage(t, apiVersion)
			s.limitProgress(ampleTimeout)
			s.Apply(s.app)
			s.reportPodsReady(1)
			s.awaitReached("Running", 1)
			from := nextTransition(s.Now(s.app))
			s.editAppImage(2, progressTimeout)
			s.crashContainers(2)
			u := s.awaitRolledBack(2)
			s.wantCrashExplained(u)
			if text := s.deploymentInGit(); !strings.Contains(text, imageByNumber(1)) || strings.Contains(text, imageByNumber(2)) {
				t.Errorf("the image before is not back in Git:\n%s", text)
			}
			for _, phase := range phasesSince(u, from) {
				if phase == "Running" || phase == "Failed" {
					t.Errorf("phases of an image that is rejected: %v", phasesSince(u, from))
				}
			}
			if len(s.podsServingImage(1)) != 1 {
				t.Errorf("%d pods of the image before serve, want 1", len(s.podsServingImage(1)))
			}
			s.editAppImage(3, ampleTimeout)
			s.reportPodsReady(3)
			s.awaitReached("Running", 3)
		})
	}
}

// TestFirstImageCrashes has nothing to go back to: the Application is Failed, and says why. The next image runs.
func TestFirstImageCrashes(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	s.limitProgress(progressTimeout)
	s.Apply(s.app)
	s.crashContainers(1)
	u := s.awaitReached("Failed", 1)
	if message := scene.Field(u, "status", "message"); !strings.Contains(message, "CrashLoopBackOff") {
		t.Errorf("the Application does not say why: %q", message)
	}
	s.editAppImage(2, ampleTimeout)
	s.reportPodsReady(2)
	s.awaitReached("Running", 2)
}

// TestCrashLoopStays has the same crash loop without a progressTimeout, for longer than the other stories wait: no Gate judges it, and the phase
// shows the crash loop. Once the container works, the very same revision runs.
func TestCrashLoopStays(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, claims)
	s.Apply(s.app)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	s.editApplication(fmt.Sprintf(`{"spec":{"image":%q}}`, imageByNumber(2)))
	s.awaitDeployed(2)
	s.crashContainers(2)
	start := time.Now()
	s.awaitCondition("Available", "False", "CrashLoopBackOff")
	s.Until("a progressTimeout would have passed", patience.Limit, func() bool { return time.Since(start) > 2*progressTimeout })
	u := s.Now(s.app)
	if phase, outcome := scene.Field(u, "status", "phase"), scene.Field(u, "status", "deployment", "outcome"); phase != "Deploying" || outcome != "Succeeded" || len(s.listGates()) > 0 {
		t.Errorf("a crash loop without a progressTimeout is %s, its deployment %s with %d Gates", phase, outcome, len(s.listGates()))
	}
	if text := s.deploymentInGit(); !strings.Contains(text, imageByNumber(2)) {
		t.Errorf("the image is not in Git any more:\n%s", text)
	}
	s.reportPodsReady(2)
	if u := s.awaitReached("Running", 2); scene.Number(u, "status", "deployment", "revision") != 2 {
		t.Errorf("revision %d runs, want 2", scene.Number(u, "status", "deployment", "revision"))
	}
}

// TestCommitCrashes has a commit, of an Application of each shape, whose container ends again and again: with a progressTimeout its image is rejected and
// rolled back in Git, while the image of the commit before serves. The next commit runs.
func TestCommitCrashes(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.limitProgress(2 * progressTimeout) // The commits that serve have it too: another timeout alone would be another revision.
		s.Apply(s.app)
		first := s.serveCommit(s.first)
		bad := s.pushSourceCommit("main", "2")
		image := s.awaitDesiredImage(bad)
		s.reportCrashLoop(image)
		u := s.Await(s.app, "Degraded with commit "+bad, func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Degraded" && scene.Field(u, "status", "commit") == bad && scene.Field(u, "status", "deployment", "outcome") == "RolledBack"
		})
		s.wantCrashExplained(u)
		if text := s.deploymentInGit(); !strings.Contains(text, first) || strings.Contains(text, image) {
			s.T.Errorf("the image of the commit before is not back in Git:\n%s", text)
		}
		if len(s.podsOfImage(first)) != 1 || len(s.buildsOfApplication()) != 2 {
			s.T.Errorf("%d pods of the commit before after %d Builds", len(s.podsOfImage(first)), len(s.buildsOfApplication()))
		}
		s.serveCommit(s.pushSourceCommit("main", "3"))
	})
}

// TestProgressAcrossRestart stops the provider while a crash loop has its time, until that is over: the provider that starts then rejects the revision without
// giving it the time again. It runs before the tests that run beside each other.
func TestProgressAcrossRestart(t *testing.T) {
	const timeout = 2 * time.Minute
	s := newAppStage(t, namespaced)
	s.limitProgress(ampleTimeout)
	s.Apply(s.app)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	s.editAppImage(2, timeout)
	s.crashContainers(2)
	s.Until("the Gate measures", patience.Limit, func() bool { return s.isGateMeasuring() })
	start := time.Now()
	cp.KillProvider()
	s.Until("the time is over", patience.Limit, func() bool { return time.Since(start) > timeout })
	s.requireNoError(cp.StartProvider(t.Context(), controlplane.Program{}))
	started := time.Now()
	s.awaitRolledBack(2)
	ended := s.timeOfRejection()
	if took := ended.Sub(started); took >= timeout {
		t.Errorf("the revision was rejected %s after the restart: its timeout began again", took)
	}
}
