package prune

import (
	"testing"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
)

// TestKilled kills the provider when the push of a removal arrives and is lost, and when it was carried out and not answered. A removed directory is
// not removed again, and the request names the commit.
func TestKilled(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     func(repository string, fn func())
	}{
		"BeforePush": {reason: "A push that was lost with the provider is made by the next provider.", at: cp.Git.DropPush},
		"AfterPush":  {reason: "A push that was carried out is not made again by the next provider.", at: cp.Git.AfterPush},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.orphanDirectories(s.describeShop("gone"))
			r := s.requestPlan("one")
			killed := make(chan struct{})
			tc.at(s.Namespace, func() {
				tc.at(s.Namespace, nil)
				cp.KillProvider()
				close(killed)
			})
			s.approvePlan(r)
			<-killed
			s.Must(cp.StartProvider(t.Context(), controlplane.Program{}))
			done := s.awaitEnd("one", v1alpha1.PhaseDone)
			s.wantDirectory("gone", false)
			if n, tip := s.pruneCommits(), s.Commits()[0].ID; n != 1 || done.Status.Result.Commit != tip {
				t.Errorf("\n%s\n%d commits, and result.commit is %s at tip %s", tc.reason, n, done.Status.Result.Commit, tip)
			}
		})
	}
}
