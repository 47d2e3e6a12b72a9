package prunerequest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/repository"
)

// TestPending reconciles a request while the repository does not answer.
func TestPending(t *testing.T) {
	cases := map[string]struct {
		reason string
		// approved is true for a request that was approved before.
		approved bool
		want     map[string]string
	}{
		"Planning": {reason: "A request without a plan says that the repository does not answer.", want: map[string]string{
			"Planned False": "cannot read the repository: it did not answer yet",
		}},
		"Pruning": {reason: "A request that was approved says what its commit waits for.", approved: true, want: map[string]string{
			"Planned True": "The plan removes 1 directory, and keeps 0.", "Approved True": "PruneApproval one names the plan.",
			"Completed False": "The commit waits for its turn, or for an answer of the repository.",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.ask(team)
			if tc.approved {
				w.approve(w.step(team))
				w.step(team)
			}
			answer := make(chan struct{})
			t.Cleanup(func() { close(answer) })
			w.git.BeforeFetch(repo, func() { <-answer })
			w.reconciler.opener.Pool = repository.NewPool(repository.Options{
				Now: w.reconciler.now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: time.Millisecond,
			})
			got := map[string]string{}
			for _, c := range w.step(team).Status.Conditions {
				got[string(c.Type)+" "+string(c.Status)] = c.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nconditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
