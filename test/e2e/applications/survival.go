package applications

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A killedStep is where the provider is killed between a commit and the Application that runs.
type killedStep struct {
	name string

	// kill pushes a commit with a content, kills the provider in the step and starts it again, and returns the commit.
	kill func(s *sourceStage, content string) string
}

// killedSteps returns the steps in their order.
func killedSteps() []killedStep {
	return []killedStep{
		{"before it looks at the repository", func(s *sourceStage, content string) string {
			cp.KillProvider()
			defer s.restartProvider()
			return s.pushSourceCommit("main", content)
		}},
		{"when kpack is asked for the image", func(s *sourceStage, content string) string {
			commit := s.pushSourceCommit("main", content)
			s.awaitImageOf(commit, "")
			cp.KillProvider()
			s.restartProvider()
			return commit
		}},
		{"while kpack builds", func(s *sourceStage, content string) string {
			commit, hold := s.pushHeldCommit(content)
			cp.KillProvider()
			s.restartProvider()
			close(hold)
			return commit
		}},
		{"before a Build ends", func(s *sourceStage, content string) string {
			commit, hold := s.pushHeldCommit(content)
			cp.KillProvider()
			close(hold)
			s.awaitImageOf(commit, "UpToDate")
			s.restartProvider()
			return commit
		}},
		{"when the deployment is asked for the image", func(s *sourceStage, content string) string {
			commit := s.pushSourceCommit("main", content)
			s.Await(s.composedBehind(namespaced, "IntentDeployment"), "the image of "+commit, func(u *unstructured.Unstructured) bool {
				return u.GetAnnotations()["build.intentplane.dev/commit"] == commit
			})
			cp.KillProvider()
			s.restartProvider()
			return commit
		}},
		{"when the image is in Git, and the provider does not know it", func(s *sourceStage, content string) string { return s.killProviderAtPush(content, 1) }},
		{"when the verdict is in Git, and the provider does not know it", func(s *sourceStage, content string) string { return s.killProviderAtPush(content, 2) }},
		{"before a pod serves", func(s *sourceStage, content string) string {
			commit := s.pushSourceCommit("main", content)
			image := s.awaitVerifiedImage(commit)
			cp.KillProvider()
			s.reportPodsByRef(image, readyStatus(corev1.ConditionTrue))
			s.restartProvider()
			return commit
		}},
	}
}

// wantSingleBuilds fails the test unless so many commits have a Build and a revision each, all by one Image.
func (s *sourceStage) wantSingleBuilds(step string, image types.UID, commits int) {
	s.T.Helper()
	revision, uid := scene.Number(s.Now(s.app), "status", "deployment", "revision"), s.Now(s.kpackObject("Image", "shop")).GetUID()
	if revision != int64(commits) || len(s.buildsOfApplication()) != commits || uid != image {
		s.T.Errorf("the provider was killed %s: revision %d and %d Builds of %d commits, Image %s, want %s", step, revision, len(s.buildsOfApplication()), commits, uid, image)
	}
}

// awaitImageOf waits until the Image asks for a commit, and has a reason, unless that is empty, at its current generation.
func (s *sourceStage) awaitImageOf(commit, reason string) {
	s.T.Helper()
	s.Await(s.kpackObject("Image", "shop"), reason+" of "+commit, func(u *unstructured.Unstructured) bool {
		if reason != "" && (fieldOfCondition(u, "Ready", "reason") != reason || scene.Number(u, "status", "observedGeneration") != u.GetGeneration()) {
			return false
		}
		return scene.Field(u, "spec", "source", "git", "revision") == commit
	})
}

// pushHeldCommit pushes a commit whose Build runs until a channel is closed.
func (s *sourceStage) pushHeldCommit(content string) (commit string, hold chan struct{}) {
	s.T.Helper()
	hold = make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
	commit = s.pushSourceCommit("main", content)
	s.awaitImageOf(commit, "BuildRunning")
	return commit, hold
}

// killProviderAtPush pushes a commit, kills the provider when its push of that number was carried out, before it is answered, and starts it again.
func (s *sourceStage) killProviderAtPush(content string, number int) string {
	s.T.Helper()
	killed, pushes := make(chan struct{}), 0
	s.Git.AfterPush(s.Namespace, func() {
		if pushes++; pushes == number {
			cp.KillProvider()
			close(killed)
		}
	})
	defer s.Git.AfterPush(s.Namespace, nil)
	commit := s.pushSourceCommit("main", content)
	select {
	case <-killed:
	case <-time.After(patience.Limit):
		s.T.Fatalf("the provider makes %d pushes, want %d", pushes, number)
	}
	s.restartProvider()
	return commit
}
