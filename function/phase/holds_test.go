package phase

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// TestHoldCondition compares what users see of each hold of revision 2.
func TestHoldCondition(t *testing.T) {
	const reconciling, rolledBack = v1alpha1.TypeReconciling, v1alpha1.TypeRolledBack
	cases := map[step.Hold]struct {
		reason string
		// condition is the type, status and reason of the condition.
		condition string
		message   string
		canary    v1alpha1.CanaryState
		isStopped bool
	}{
		step.HoldNone:          {reason: "A deployment that goes on names no hold."},
		step.HoldFrozen:        {reason: "The problem of the spec names itself."},
		step.HoldRendererWaits: {reason: "A renderer that waits is an update in the status."},
		step.HoldApprovalWaits: {reason: "An update that waits for a user is in the status."},
		step.HoldVerdictWaits:  {reason: "A change of the catalog follows the verdict by itself."},
		step.HoldSuspended: {
			reason: "A suspension is no work.", condition: reconciling + " False Suspended", message: "The next step is held back by spec.suspend.",
		},
		step.HoldOutranked: {
			reason: "The newer version of the function goes on.", condition: reconciling + " True Progressing",
			message: "A newer version of the function ordered it, and this version leaves it alone.",
		},
		step.HoldClusterWaits: {
			reason: "A cluster that is not ready keeps the revision from being delivered.", condition: v1alpha1.TypeDelivered + " False WaitingForCluster",
			message: "A Site waits for its cluster.",
		},
		step.HoldPaused: {
			reason: "A pause ends by itself.", condition: reconciling + " True Paused", message: "The step is live, and pauses.", canary: v1alpha1.CanaryPaused,
		},
		step.HoldAwaitsPromotion: {
			reason: "A user gets the command that releases the step.", condition: reconciling + " True AwaitingPromotion", canary: v1alpha1.CanaryAwaitingPromotion,
			message: "The step is live, and waits until a user releases the next one: kubectl intent promote shop -n team-a.",
		},
		step.HoldGateHeld: {
			reason: "A user gets the commands that decide on the Gate.", condition: reconciling + " True Held", canary: v1alpha1.CanaryHeld,
			message: "The Gate of the step came to no conclusion. A user releases the step, or gives the revision up: " +
				"kubectl intent promote shop -n team-a, or kubectl intent abort.",
		},
		step.HoldDraining: {
			reason: "Pods without requests stay for a while.", condition: reconciling + " True Draining", canary: v1alpha1.CanaryDraining,
			message: "Requests go back to revision 1, before the revision begins.",
		},
		step.HoldNotRecorded: {
			reason: "A repository that has to report first stops no rollback.", condition: rolledBack + " False NotRecorded",
			message: "Not every repository has reported that yet.",
		},
		step.HoldRollbackOff: {
			reason: "A rollback that is off names the field.", condition: rolledBack + " False RollbackOff", isStopped: true,
			message: "Rollback is off: spec.rollbackConfig.autoRollback is false.",
		},
		step.HoldNoTarget: {
			reason: "A rollback needs a target.", condition: rolledBack + " False NoTarget", isStopped: true,
			message: "No rollback target exists: no earlier revision was verified everywhere, or its trees are not retained.",
		},
		step.HoldNothingToRestore: {
			reason: "A rollback changes something.", condition: rolledBack + " False NothingToRestore", isStopped: true,
			message: "There is nothing to roll back: every directory holds the files of the last verified revision.",
		},
		step.HoldIrreversible: {
			reason: "A user gets the action that rolls irreversible content back.", condition: rolledBack + " False Irreversible", isStopped: true,
			message: "It is not rolled back without a request: it changes, or may change, objects that its Blueprint marks as irreversible. " +
				"A RolloutRequest with action RollbackTo rolls it back.",
		},
		step.HoldTooManyRollbacks: {
			reason: "A limit names its field.", condition: rolledBack + " False TooManyRollbacks", isStopped: true,
			message: "Rollback limit reached: as many revisions were rejected in the hour before as spec.rollbackConfig.maxPerHour allows to be rolled back.",
		},
		step.HoldAttemptsSpent: {
			reason: "A rollback that failed says how often.", condition: rolledBack + " False AttemptsSpent", isStopped: true,
			message: "All 3 attempts of the rollback failed.",
		},
	}
	for hold, tc := range cases {
		t.Run(string(hold), func(t *testing.T) {
			f := newHeld(func(f *Input) { f.Holds.Progress, f.State.Cursor.Attempt = hold, 3 })
			condition := ""
			if c := f.holdCondition(hold); c.Type != "" {
				condition = c.Type + " " + string(c.Status) + " " + c.Reason
			}
			want := []any{tc.condition, tc.message, tc.canary, tc.isStopped}
			if diff := cmp.Diff(want, []any{condition, f.holdMessage(hold), holdTable()[hold].canary, f.isRollbackStopped()}); diff != "" {
				t.Errorf("\n%s\nholdTable() of %q: -want, +got:\n%s", tc.reason, hold, diff)
			}
		})
	}
	for hold := range holdTable() {
		if _, ok := cases[hold]; !ok {
			t.Errorf("hold %s is not compared", hold)
		}
	}
}

// newHeld returns the input for revision 2 of deployment shop beside revision 1.
func newHeld(change func(*Input)) *Input {
	f := &Input{Claim: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"}, Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2)}}}
	f.State.Current.Stable = 1
	change(f)
	return f
}

// TestHoldMessage compares the messages that depend on more than the hold.
func TestHoldMessage(t *testing.T) {
	const off = "Rollback is off: spec.rollbackConfig."
	cases := map[string]struct {
		reason string
		change func(*Input)
		hold   step.Hold
		want   string
	}{
		"First": {
			reason: "A deployment without a revision has no newer request.", hold: step.HoldSuspended, change: func(f *Input) { f.State.Current = nil },
			want: "The first revision is held back by spec.suspend.",
		},
		"Request": {
			reason: "A suspension holds back the next revision.", hold: step.HoldSuspended, change: func(f *Input) { f.Holds.Start = step.HoldSuspended },
			want: "A newer request is held back by spec.suspend.",
		},
		"Step": {
			reason: "A suspension holds back the next step of a revision.", hold: step.HoldSuspended, change: func(f *Input) { f.Holds.Progress = step.HoldSuspended },
			want: "The next step is held back by spec.suspend.",
		},
		"Retries": {
			reason: "A rollback without an attempt names that field.", hold: step.HoldRollbackOff, change: func(f *Input) { f.Policy.AutoRollback = true },
			want: off + "maxRetries is 0.",
		},
		"Requested": {
			reason: "A user who asks for a rollback is stopped by the number of attempts alone.", hold: step.HoldRollbackOff,
			change: func(f *Input) { f.State.Withdraws = 1 }, want: off + "maxRetries is 0.",
		},
		"Once": {
			reason: "One attempt is not counted.", hold: step.HoldAttemptsSpent, change: func(f *Input) { f.State.Cursor.Attempt = 1 },
			want: "The only attempt of the rollback failed.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, newHeld(tc.change).holdMessage(tc.hold)); diff != "" {
				t.Errorf("\n%s\nholdMessage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIrreversibleMessage says why revision 3 is not rolled back without a request.
func TestIrreversibleMessage(t *testing.T) {
	const changes, undetermined = "it changes, or may change, objects that its Blueprint marks", "the ledger does not have their digest in revision 1"
	cases := map[string]struct {
		reason string
		marked string
		target *ledger.Past
		want   string
	}{
		"Before":   {reason: "A rollback to the previous revision changes irreversible content.", marked: "m", target: &ledger.Past{Number: 2}, want: changes},
		"Earlier":  {reason: "The irreversible content of an earlier target is unknown.", marked: "m", target: &ledger.Past{Number: 1}, want: undetermined},
		"Known":    {reason: "A target with a recorded digest is compared.", marked: "m", target: &ledger.Past{Number: 1, Marked: "n"}, want: changes},
		"Unmarked": {reason: "A revision without marked objects says nothing about its target.", target: &ledger.Past{Number: 1}, want: changes},
		"NoTarget": {reason: "Without a target there is nothing to compare.", marked: "m", want: changes},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newHeld(func(f *Input) { f.State.Current = newRevision(3) })
			f.State.Current.Marked, f.State.History = tc.marked, nil
			if tc.target != nil {
				tc.target.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				f.State.History = []ledger.Past{*tc.target}
			}
			if got := f.holdMessage(step.HoldIrreversible); !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nholdMessage(...): want %q in it, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
