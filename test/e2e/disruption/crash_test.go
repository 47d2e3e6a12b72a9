package disruption

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestCrashAfterPush(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	died := dieAfterPush(s)
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
	s.Apply(claim)
	died()
	wantCommits(s, 1)
	pushed := s.Commits()[0]
	left := s.Delivery()
	if observation := left.Status.AtProvider; observation.Remote != nil || observation.Attempt != nil {
		t.Errorf("the crash should leave no commit and no attempt in status, not %+v", observation)
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
	observation := s.Delivery().Status.AtProvider
	if diff := cmp.Diff(pushed.Time.UTC(), observation.Attempt.StartedAt.UTC()); diff != "" {
		t.Errorf("start of the attempt, -want (date of the commit), +got:\n%s", diff)
	}
	if diff := cmp.Diff(int64(1), scene.Number(claim, "status", "revision")); diff != "" {
		t.Errorf("revision: -want, +got:\n%s", diff)
	}
}

func TestCrashBeforePush(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	s.Git.FailPushes(s.Namespace, http.StatusServiceUnavailable)
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1"))
	s.Apply(claim)
	begun := s.AwaitDelivery("with an attempt that failed", func(d *deliveryv1alpha1.GitDelivery) bool {
		return d.Status.AtProvider.Attempt != nil && reasonOfReady(d) == string(deliveryv1alpha1.ReasonUnreachable)
	})
	cp.KillProvider()
	wantCommits(s, 0)
	started := begun.Status.AtProvider.Attempt.StartedAt
	s.Until("another second, which a new attempt would have", patience.Limit, func() bool { return time.Since(started.Time) > 2*time.Second })

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
