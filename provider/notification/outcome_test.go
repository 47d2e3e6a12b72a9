package notification

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func clock() time.Time { return time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC) }

// moves returns the transitions of a revision, a minute ago, each after the one before.
func moves(first, revision int64, phases ...deploymentv1alpha1.Phase) []deploymentv1alpha1.Transition {
	var out []deploymentv1alpha1.Transition
	for i := 1; i < len(phases); i++ {
		out = append(out, deploymentv1alpha1.Transition{
			Index: first + int64(i-1), From: phases[i-1], To: phases[i], Revision: revision, At: metav1.NewTime(clock().Add(-time.Minute)),
		})
	}
	return out
}

func statusOf(phase deploymentv1alpha1.Phase, t ...deploymentv1alpha1.Transition) *Status {
	return &Status{Phase: phase, Message: "said", Transitions: t, LiveRevision: 4, Delivery: deploymentv1alpha1.DeliveryStatus{GitCommit: "8d21c0e"}}
}

func stalled(s *Status, rejected, reason string) *Status {
	s.Rollback.Reason = rejected
	s.SetConditions(xpv2.Condition{Type: deploymentv1alpha1.TypeStalled, Status: corev1.ConditionTrue, Reason: xpv2.ConditionReason(reason)})
	return s
}

func TestOutcomes(t *testing.T) {
	const delivering, validating, succeeded = deploymentv1alpha1.PhaseDelivering, deploymentv1alpha1.PhaseValidating, deploymentv1alpha1.PhaseSucceeded
	const failed, rolling = deploymentv1alpha1.PhaseFailed, deploymentv1alpha1.PhaseRollingBack
	fresh := func(s *Status) *Status {
		s.Transitions[len(s.Transitions)-1].At = metav1.NewTime(clock().Add(-10 * time.Second))
		return s
	}
	cases := map[string]struct {
		reason string
		status *Status
		want   []string
		wait   time.Duration
	}{
		"Nothing":    {reason: "A deployment that has not begun has no outcome.", status: statusOf("")},
		"NotOrdered": {reason: "A phase without a revision is not the outcome of one.", status: statusOf(succeeded, moves(0, 0, validating, succeeded)...)},
		"Verified":   {reason: "A revision that was verified has succeeded.", status: statusOf(succeeded, moves(3, 5, delivering, validating, succeeded)...), want: []string{"5 Succeeded said 8d21c0e"}},
		"RolledBack": {reason: "The end of a rollback is the outcome of the revision that was rejected, and the failure that it began with is not.", status: statusOf(succeeded, moves(3, 5, validating, failed, rolling, succeeded)...), want: []string{"5 RolledBack said 8d21c0e"}},
		"Both": {
			reason: "An outcome before the last transition is found, without what the status says now.",
			status: statusOf(succeeded, append(moves(3, 5, validating, succeeded), moves(4, 6, rolling, succeeded)...)...), want: []string{"5 Succeeded  ", "6 RolledBack said 8d21c0e"},
		},
		"Rejected": {reason: "A rejected revision that nothing rolls back has failed.", status: stalled(statusOf(failed, moves(3, 5, validating, failed)...), rolloutv1alpha1.RejectedGateFailed, rolloutv1alpha1.RejectedGateFailed), want: []string{"5 Failed said 8d21c0e"}},
		"Earlier": {
			reason: "A failure that a rollback followed is not an outcome, also while a later revision has failed.",
			status: stalled(statusOf(failed, append(moves(3, 4, validating, failed, rolling, succeeded), moves(6, 5, validating, failed)...)...), rolloutv1alpha1.RejectedGateFailed, rolloutv1alpha1.RejectedGateFailed),
			want:   []string{"4 RolledBack  ", "5 Failed said 8d21c0e"},
		},
		"Irreversible": {reason: "A rejected revision whose rollback a user has to ask for has failed.", status: stalled(statusOf(failed, moves(3, 5, validating, failed)...), rolloutv1alpha1.RejectedGateFailed, deploymentv1alpha1.ReasonIrreversible), want: []string{"5 Failed said 8d21c0e"}},
		"Settling":     {reason: "A revision that was rejected just now may be rolled back by itself.", status: fresh(stalled(statusOf(failed, moves(3, 5, validating, failed)...), rolloutv1alpha1.RejectedGateFailed, rolloutv1alpha1.RejectedGateFailed)), wait: 20 * time.Second},
		"InvalidSpec":  {reason: "A spec that cannot be carried out is not the outcome of the revision before.", status: stalled(statusOf(failed, moves(3, 5, "Pending", failed)...), rolloutv1alpha1.RejectedGateFailed, deploymentv1alpha1.ReasonInvalidSpec)},
		"Conflict":     {reason: "A revision that is not rejected may succeed still.", status: stalled(statusOf(failed, moves(3, 5, delivering, failed)...), "", deploymentv1alpha1.ReasonObjectConflict)},
		"NoReason":     {reason: "A condition without a reason says nothing of a rejection.", status: stalled(statusOf(failed, moves(3, 5, delivering, failed)...), "", "")},
		"Returned":     {reason: "A deployment that leaves Failed has no such outcome any more.", status: stalled(statusOf(rolling, moves(3, 5, validating, failed, rolling)...), rolloutv1alpha1.RejectedGateFailed, rolloutv1alpha1.RejectedGateFailed)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			outcomes, wait := Outcomes(tc.status, &ledger.State{Head: ledger.Head{Epoch: 2}}, clock())
			var got []string
			for _, o := range outcomes {
				got = append(got, fmt.Sprintf("%d %s %s %s", o.Revision, o.Result, o.Message, o.Commit))
				if id := o.ID("u1"); id != fmt.Sprintf("u1.2.%d.%s", o.Revision, o.Result) {
					t.Errorf("ID(...): %s", id)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOutcomes(...): -want, +got:\n%s", tc.reason, diff)
			}
			if wait != tc.wait {
				t.Errorf("\n%s\nOutcomes(...): want a wait of %s, got %s", tc.reason, tc.wait, wait)
			}
		})
	}
}

func TestIsFirstVerified(t *testing.T) {
	past := func(number int64, result ledger.Result) ledger.Past {
		return ledger.Past{Number: number, Verdict: &ledger.Verdict{Result: result}}
	}
	cases := map[string]struct {
		reason   string
		revision int64
		state    ledger.State
		want     bool
	}{
		"Unknown":  {reason: "Without a ledger nothing was verified before.", revision: 1, want: true},
		"First":    {reason: "The first revision is the first that is verified.", revision: 1, state: ledger.State{Stable: 1}, want: true},
		"Rejected": {reason: "A revision that was rejected before does not count.", revision: 2, state: ledger.State{Stable: 2, History: []ledger.Past{past(1, ledger.VerdictRejected)}}, want: true},
		"Second":   {reason: "A revision after one that was verified is an upgrade.", revision: 3, state: ledger.State{Stable: 3, History: []ledger.Past{past(1, ledger.VerdictVerified)}}},
		"Behind":   {reason: "A ledger that is read before the verdict was recorded names the stable revision before.", revision: 3, state: ledger.State{Stable: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isFirstVerified(tc.revision, &tc.state); got != tc.want {
				t.Errorf("\n%s\nisFirstVerified(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestSitesOf(t *testing.T) {
	s := &Status{}
	s.Delivery.Sites = map[string]deploymentv1alpha1.SiteStatus{strings.Repeat("a", 64): {}}
	for i := range 60 {
		s.Delivery.Sites[fmt.Sprintf("edge%02d", i)] = deploymentv1alpha1.SiteStatus{}
	}
	if got := sitesOf(s); len(got) != maxSites || got[0] != "edge00" {
		t.Errorf("a notification names the first %d Sites whose names are not too long: %d, from %s", maxSites, len(got), got[0])
	}
}
