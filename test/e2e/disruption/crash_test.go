package disruption

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

func startProvider(t *testing.T, args ...string) {
	t.Helper()
	if err := cp.StartProvider(t.Context(), controlplane.Program{Args: args}); err != nil {
		t.Fatal(err)
	}
}

// dieAfterPush lets the provider die once a push has brought a commit, while the server still holds back its answer: nothing in the cluster
// can know of it. What it returns waits for that.
func dieAfterPush(s *scene.Scene) func() {
	s.T.Helper()
	tip := func() (string, error) {
		// The scene's own way to look may end the test, which only the test itself may do.
		log, err := s.Git.Log(s.T.Context(), s.Namespace, gitserver.Branch)
		if err != nil || len(log) == 0 {
			return "", err
		}
		return log[0].ID, nil
	}
	before, err := tip()
	if err != nil {
		s.T.Fatal(err)
	}
	dead := make(chan struct{})
	die := sync.OnceFunc(func() {
		cp.KillProvider()
		close(dead)
	})
	s.Git.AfterPush(s.Namespace, func() {
		// The first state of a repository is pushed alone, before any commit of the branch.
		if now, err := tip(); err == nil && now != before {
			die()
		}
	})
	return func() {
		s.T.Helper()
		ctx, cancel := s.Context()
		defer cancel()
		select {
		case <-dead:
		case <-ctx.Done():
			s.T.Fatal("the provider pushed nothing that it could die of")
		}
		s.Git.AfterPush(s.Namespace, nil)
	}
}

func TestCrashAfterPush(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	died := dieAfterPush(s)
	claim := s.Claim("shop", intent(s, 2, "edge1", "edge2"))
	s.Apply(claim)
	died()
	wantCommits(s, 1)
	pushed := s.Commits()[0]
	left := s.Delivery()
	if at := left.Status.AtProvider; at.Remote != nil || at.Attempt != nil {
		t.Errorf("the crash should leave no commit and no attempt in status, not %+v", at)
	}
	if diff := cmp.Diff(left.GetCreationTimestamp().UTC(), pushed.Time.UTC()); diff != "" {
		t.Errorf("date of the commit, -want (creation of the delivery), +got:\n%s", diff)
	}

	startProvider(t)
	claim = s.Succeed(claim)
	wantCommits(s, 1)
	if diff := cmp.Diff(pushed.ID, scene.Field(claim, "status", "delivery", "gitCommit")); diff != "" {
		t.Errorf("commit in status: -want, +got:\n%s", diff)
	}
	at := s.Delivery().Status.AtProvider
	if diff := cmp.Diff(pushed.Time.UTC(), at.Attempt.StartedAt.UTC()); diff != "" {
		t.Errorf("start of the attempt, -want (date of the commit), +got:\n%s", diff)
	}
	if diff := cmp.Diff(int64(1), scene.Number(claim, "status", "revision")); diff != "" {
		t.Errorf("revision: -want, +got:\n%s", diff)
	}
}

func TestCrashBeforePush(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	s.Git.FailPushes(s.Namespace, http.StatusServiceUnavailable)
	claim := s.Claim("shop", intent(s, 2, "edge1"))
	s.Apply(claim)
	begun := s.AwaitDelivery("with an attempt that failed", func(d *deliveryv1alpha1.GitDelivery) bool {
		return d.Status.AtProvider.Attempt != nil && reason(d) == string(deliveryv1alpha1.ReasonUnreachable)
	})
	cp.KillProvider()
	wantCommits(s, 0)
	started := begun.Status.AtProvider.Attempt.StartedAt
	s.Until("another second, which an attempt begun anew would have", scene.Patience, func() bool { return time.Since(started.Time) > 2*time.Second })

	s.Git.FailPushes(s.Namespace, 0)
	startProvider(t)
	claim = s.Succeed(claim)
	wantCommits(s, 1)
	commit := s.Commits()[0]
	if diff := cmp.Diff(commit.ID, scene.Field(claim, "status", "delivery", "gitCommit")); diff != "" {
		t.Errorf("commit in status: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(started.UTC(), commit.Time.UTC()); diff != "" {
		t.Errorf("date of the commit, -want (start of the attempt), +got:\n%s", diff)
	}
}
