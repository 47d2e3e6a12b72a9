package notification

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func clock() time.Time { return time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC) }

// moves returns the transitions of a revision, a minute ago, in their order.
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

// rejected says on the changes to Failed that the revision was rejected, and on the end of a rollback which revision runs again.
func rejected(transitions []deploymentv1alpha1.Transition) []deploymentv1alpha1.Transition {
	for i := range transitions {
		t := &transitions[i]
		if t.To == deploymentv1alpha1.PhaseFailed {
			t.Rejected = rolloutv1alpha1.RejectedGateFailed
		}
		if t.From == deploymentv1alpha1.PhaseRollingBack && t.To == deploymentv1alpha1.PhaseSucceeded {
			t.Rejected, t.Restored = rolloutv1alpha1.RejectedGateFailed, t.Revision-1
		}
	}
	return transitions
}

// aged moves transitions from an index on into the past, or into the future.
func aged(transitions []deploymentv1alpha1.Transition, from int, age time.Duration) []deploymentv1alpha1.Transition {
	for i := from; i < len(transitions); i++ {
		transitions[i].At = metav1.NewTime(transitions[i].At.Add(-age))
	}
	return transitions
}

func TestOutcomes(t *testing.T) {
	const delivering, validating, succeeded = deploymentv1alpha1.PhaseDelivering, deploymentv1alpha1.PhaseValidating, deploymentv1alpha1.PhaseSucceeded
	const failed, rolling, pending = deploymentv1alpha1.PhaseFailed, deploymentv1alpha1.PhaseRollingBack, deploymentv1alpha1.PhasePending
	cases := map[string]struct {
		reason string
		status *Status
		want   []string
		wait   time.Duration
	}{
		"Nothing":    {reason: "A deployment that has not begun has no outcome.", status: statusOf("")},
		"NotOrdered": {reason: "A phase without a revision is not an outcome.", status: statusOf(succeeded, moves(0, 0, validating, succeeded)...)},
		"Verified": {
			reason: "A revision that was verified has succeeded.",
			status: statusOf(succeeded, moves(3, 5, delivering, validating, succeeded)...), want: []string{"5 Succeeded 4 said 8d21c0e"},
		},
		"RolledBack": {
			reason: "The end of a rollback is the outcome of the revision that was rejected, and the failure that it began with is not.",
			status: statusOf(succeeded, rejected(moves(3, 5, validating, failed, rolling, succeeded))...),
			want:   []string{"5 RolledBack 4 said 8d21c0e"},
		},
		"Both": {
			reason: "An outcome before the last transition has the fields of its own transition, and no field of the present status.",
			status: statusOf(succeeded, append(moves(3, 5, validating, succeeded), rejected(moves(4, 9, rolling, succeeded))...)...),
			want:   []string{"5 Succeeded 0  ", "9 RolledBack 8 said 8d21c0e"},
		},
		"RolledBackBefore": {
			reason: "A rollback that a later revision followed names the revision that ran after it.",
			status: statusOf(pending, append(rejected(moves(3, 5, validating, failed, rolling, succeeded)), moves(6, 6, succeeded, pending)...)...),
			want:   []string{"5 RolledBack 4  "},
		},
		"Rejected": {
			reason: "A rejected revision that nothing rolls back has failed.",
			status: statusOf(failed, rejected(moves(3, 5, validating, failed))...), want: []string{"5 Failed 4 said 8d21c0e"},
		},
		"FailedBefore": {
			reason: "A rejected revision that a later revision followed has failed, too.",
			status: statusOf(succeeded, append(rejected(moves(3, 5, validating, failed)), moves(4, 6, failed, pending, validating, succeeded)...)...),
			want:   []string{"5 Failed 0  ", "6 Succeeded 4 said 8d21c0e"},
		},
		"FailedTwice": {
			reason: "Failures of two revisions with a success between them are three outcomes.",
			status: statusOf(failed, append(append(rejected(moves(3, 5, validating, failed)), moves(4, 6, failed, validating, succeeded)...), rejected(moves(6, 7, succeeded, validating, failed))...)...),
			want:   []string{"5 Failed 0  ", "6 Succeeded 0  ", "7 Failed 4 said 8d21c0e"},
		},
		"TakenBack": {
			reason: "A revision that comes to the same outcome again, as after an edit that was taken back, has one outcome.",
			status: statusOf(succeeded, append(moves(3, 5, validating, succeeded), moves(4, 5, succeeded, pending, validating, succeeded)...)...),
			want:   []string{"5 Succeeded 0  "},
		},
		"Earlier": {
			reason: "A failure that a rollback followed is not an outcome, also while a later revision has failed.",
			status: statusOf(failed, append(rejected(moves(3, 4, validating, failed, rolling, succeeded)), rejected(moves(6, 5, validating, failed))...)...),
			want:   []string{"4 RolledBack 3  ", "5 Failed 4 said 8d21c0e"},
		},
		"LateRollback": {
			reason: "A failure that a user rolls back a while later is an outcome, and its rollback is another.",
			status: statusOf(succeeded, aged(rejected(moves(3, 5, validating, failed, rolling, succeeded)), 1, -settleTime)...),
			want:   []string{"5 Failed 0  ", "5 RolledBack 4 said 8d21c0e"},
		},
		"ClockBack": {
			reason: "A rollback that began before its failure, by a clock that was set back, began by itself.",
			status: statusOf(succeeded, aged(rejected(moves(3, 5, validating, failed, rolling, succeeded)), 1, time.Hour)...),
			want:   []string{"5 RolledBack 4 said 8d21c0e"},
		},
		"Settling": {
			reason: "A revision that was rejected just now may be rolled back by itself.",
			status: statusOf(failed, aged(rejected(moves(3, 5, validating, failed)), 0, -50*time.Second)...), wait: 20 * time.Second,
		},
		"SettlingBefore": {
			reason: "A later revision ends the wait for a rollback of a rejected revision.",
			status: statusOf(succeeded, aged(append(rejected(moves(3, 5, validating, failed)), moves(4, 6, failed, validating, succeeded)...), 0, -50*time.Second)...),
			want:   []string{"5 Failed 0  ", "6 Succeeded 4 said 8d21c0e"},
		},
		"SettlingEdit": {
			reason: "Another spec for the rejected revision does not end the wait.", wait: 20 * time.Second,
			status: statusOf(pending, aged(append(rejected(moves(3, 5, validating, failed)), moves(4, 5, failed, pending)...), 0, -50*time.Second)...),
		},
		"ClockAhead": {
			reason: "A failure by a clock that was ahead keeps no outcome waiting.", want: []string{"5 Failed 4 said 8d21c0e"},
			status: statusOf(failed, aged(rejected(moves(3, 5, validating, failed)), 0, -3*time.Hour)...),
		},
		"ClockSkewed": {
			reason: "A clock that is a little ahead does not let a failure count before a rollback may begin.", wait: 35 * time.Second,
			status: statusOf(failed, aged(rejected(moves(3, 5, validating, failed)), 0, -65*time.Second)...),
		},
		"InvalidSpec": {
			reason: "A spec that cannot be carried out is not the outcome of the revision before.",
			status: statusOf(failed, moves(3, 5, pending, failed)...),
		},
		"Conflict": {reason: "A revision that is not rejected may succeed still.", status: statusOf(failed, moves(3, 5, delivering, failed)...)},
		"Hidden": {
			reason: "A rejection that a problem hid is the outcome when the problem ends, and the failure by the problem is not an outcome.",
			status: statusOf(failed, append(moves(3, 5, validating, failed), rejected(moves(4, 5, failed, pending, delivering, validating, failed))...)...),
			want:   []string{"5 Failed 4 said 8d21c0e"},
		},
		"HiddenRollback": {
			reason: "A rollback that failed behind a problem is one outcome.",
			status: statusOf(failed, append(moves(3, 5, validating, failed), rejected(moves(4, 5, failed, pending, delivering, failed, rolling, failed))...)...),
			want:   []string{"5 Failed 4 said 8d21c0e"},
		},
		"Rolling": {
			reason: "A rejected revision that is being rolled back has no outcome yet.",
			status: statusOf(rolling, rejected(moves(3, 5, validating, failed, rolling))...),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			outcomes, wait := Outcomes(tc.status, &ledger.State{Head: ledger.Head{Epoch: 2}}, clock())
			var got []string
			for _, o := range outcomes {
				got = append(got, fmt.Sprintf("%d %s %d %s %s", o.Revision, o.Result, o.LiveRevision, o.Message, o.Commit))
				n := Notification{Outcome: o, Deployment: Deployment{UID: "u1"}}
				if id := n.ID(); id != fmt.Sprintf("u1.2.%d.%s", o.Revision, o.Result) {
					t.Errorf("ID(): %s", id)
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

// TestEpochOfOutcome lets a ledger move to another repository after a revision ended: the outcome keeps its epoch, and so its id.
func TestEpochOfOutcome(t *testing.T) {
	transitions := moves(3, 5, deploymentv1alpha1.PhaseValidating, deploymentv1alpha1.PhaseSucceeded)
	transitions[0].Epoch = 1
	transitions = append(transitions, moves(4, 6, deploymentv1alpha1.PhaseValidating, deploymentv1alpha1.PhaseSucceeded)...)
	outcomes, _ := Outcomes(statusOf(deploymentv1alpha1.PhaseSucceeded, transitions...), &ledger.State{Head: ledger.Head{Epoch: 2}}, clock())
	var got []string
	for _, o := range outcomes {
		got = append(got, o.identityKey())
	}
	if diff := cmp.Diff([]string{"1.5.Succeeded", "2.6.Succeeded"}, got); diff != "" {
		t.Errorf("a change without an epoch belongs to the ledger of now: -want, +got:\n%s", diff)
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
		"Unknown": {reason: "Without a ledger nothing was verified before.", revision: 1, want: true},
		"First":   {reason: "The first revision is the first that is verified.", revision: 1, state: ledger.State{Stable: 1}, want: true},
		"Rejected": {
			reason:   "A revision that was rejected before does not count.",
			revision: 2, state: ledger.State{Stable: 2, History: []ledger.Past{past(1, ledger.VerdictRejected)}}, want: true,
		},
		"Second": {
			reason:   "A revision after a verified revision is an upgrade.",
			revision: 3, state: ledger.State{Stable: 3, History: []ledger.Past{past(1, ledger.VerdictVerified)}},
		},
		"Behind": {reason: "A ledger that is read before the verdict was recorded names the stable revision before.", revision: 3, state: ledger.State{Stable: 1}},
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
	if got := deliveredSites(s); len(got) != maxSites || got[0] != "edge00" {
		t.Errorf("a notification names the first %d Sites whose names are not too long: %d, from %s", maxSites, len(got), got[0])
	}
}
