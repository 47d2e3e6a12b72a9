package canary

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/kubelet"
)

// TestNoRequestFails goes through a canary as a deployment would, and back from a second one in the middle: pods come before their requests, and go
// after them.
func TestNoRequestFails(t *testing.T) {
	t.Parallel()
	s := newServingShop(t)
	users := s.target.Start(t.Context(), perSecond)

	files := s.filesBeside(track.Blue, 1, 2, 5)
	s.awaitReached(files)
	for _, step := range []track.State{{Weight: 5, Ahead: 20}, {Weight: 20, Ahead: 50}, {Weight: 50, Ahead: 100}, {Weight: 100, Ahead: 100}} {
		step.Serving = track.Blue
		files = s.filesInState(files, step)
		s.awaitReached(files)
	}
	s.awaitDrained()
	s.awaitReached(s.filesInState(files, track.State{Serving: track.Green, Alone: true}))

	files = s.filesBeside(track.Green, 2, 3, 50)
	s.awaitReached(files)
	s.awaitReached(s.filesInState(files, track.State{Serving: track.Green, Weight: 50, Ahead: 50}))
	s.awaitReached(s.filesInState(files, track.State{Serving: track.Green, Ahead: 50}))
	s.awaitDrained()
	s.awaitReached(s.filesOfSoleTrack(track.Green, 2))

	got := users.Stop()
	if len(got.Failed()) > 0 {
		t.Errorf("requests fail: %s", got)
	}
	// Blue is the first revision, at full size, and then half of the third.
	if diff := cmp.Diff(map[string]int{track.Blue: replicas + 2, track.Green: replicas}, s.startedPods()); diff != "" {
		t.Errorf("each pod is made once: pods that answered: -want, +got:\n%s", diff)
	}
	t.Log(got)
}

// TestPodsWithWeight makes in one commit a change that needs two: requests to a track whose pods come in the same commit fail. So the checks of the
// other tests can fail.
func TestPodsWithWeight(t *testing.T) {
	t.Parallel()
	s := newServingShop(t)
	users := s.target.Start(t.Context(), perSecond)
	s.commitFiles(withAnnotation(s.filesInState(s.filesBeside(track.Blue, 1, 2, 50), track.State{Serving: track.Blue, Weight: 50, Ahead: 50}), kubelet.AnnotationReadyAfter, 2*drain))
	s.awaitDrained()
	if got := users.Stop(); len(got.Failed()) == 0 {
		t.Errorf("no request fails although a track gets its weight before its pods are ready: %s", got)
	}
}

// TestWeightWithPods removes pods in the commit that takes their weight, until requests fail. The author of a commit cannot say whether the gateway follows before
// the pods are gone, so the number of commits is a figure. These pods end at once.
func TestWeightWithPods(t *testing.T) {
	t.Parallel()
	const tries = 8
	s := newServingShop(t)
	for try := range tries {
		files := withAnnotation(s.filesBeside(track.Blue, 1, 2, 50), kubelet.AnnotationAnswers, 0)
		s.awaitReached(files)
		s.awaitReached(s.filesInState(files, track.State{Serving: track.Blue, Weight: 50, Ahead: 50}))
		s.awaitDrained()
		users := s.target.Start(t.Context(), perSecond)
		s.awaitReached(s.filesOfSoleTrack(track.Blue, 1))
		s.awaitDrained()
		if got := users.Stop(); len(got.Failed()) > 0 {
			figure.Check(t, "commits_until_request_fails", float64(try+1), tries)
			t.Logf("requests fail: %s", got)
			return
		}
	}
	figure.Check(t, "commits_until_request_fails", tries+1, tries)
}
