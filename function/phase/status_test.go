package phase

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

func TestEnd(t *testing.T) {
	type want struct {
		End     rolloutv1alpha1.End
		Message string
	}
	rejection := &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedGateFailed, Message: "Slow."}
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   want
	}{
		"Verified": {
			reason: "A verified revision shows its verdict, and the running revision of the Sites.",
			change: func(f *Input) {
				f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				f.State.Current.Plan = []ledger.Step{{Gate: true}}
			},
			want: want{
				rolloutv1alpha1.EndVerified,
				"Revision 2 was verified: its gates passed. The revision was verified, and not every Site is known to run it now: The revision is " +
					"on its way to the repository.",
			},
		},
		"Released": {
			reason: "A Gate that a user released did not pass.",
			change: func(f *Input) {
				f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				f.State.Current.Plan, f.State.Cursor.GateReleased = []ledger.Step{{Gate: true}}, 1
			},
			want: want{
				rolloutv1alpha1.EndVerified,
				"Revision 2 was verified: a user released its Gate. The revision was verified, and not every Site is known to run it now: The revision is " +
					"on its way to the repository.",
			},
		},
		"RolledBack": {
			reason: "A revision that was rolled back shows the reason, and the running revision.",
			change: func(f *Input) {
				f.State.Verdict, f.State.Cursor.Attempt, f.State.Target, f.State.Restored = rejection, 1, 1, true
			},
			want: want{rolloutv1alpha1.EndRolledBack, "Revision 2 was rejected: GateFailed. Slow. The Sites ran revision 1 again, and not all of them are known to run it now. " +
				"To go on, change the intent, or deliver it again: kubectl intent retry shop -n team-a."},
		},
		"Requested": {
			reason: "An end that a user asked for says so.",
			change: func(f *Input) {
				f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedRequested, Message: "Too early."}
				f.State.Cursor.Attempt, f.State.Target, f.State.Restored = 1, 1, true
			},
			want: want{rolloutv1alpha1.EndRolledBack, "A user asked for the rollback: Too early. The Sites ran revision 1 again, and not all of them are known to run it now. " +
				"To go on, change the intent, or deliver it again: kubectl intent retry shop -n team-a."},
		},
		"Nothing": {
			reason: "A revision that changed no directory is not left running.",
			change: func(f *Input) { f.State.Verdict, f.Holds.Progress = rejection, step.HoldNothingToRestore },
			want: want{
				rolloutv1alpha1.EndNothingToRestore,
				"Revision 2 was rejected: GateFailed. Slow. There is nothing to roll back: every directory holds the files of the last verified " +
					"revision.",
			},
		},
		"Stays": {
			reason: "A revision that may run still says why it was not rolled back.",
			change: func(f *Input) { f.State.Verdict, f.Holds.Progress = rejection, step.HoldRollbackOff },
			want:   want{rolloutv1alpha1.EndNotRolledBack, "Revision 2 was rejected: GateFailed. Slow. Rollback is off: spec.rollbackConfig.autoRollback is false."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Claim: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"}, Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2)}}}
			tc.change(f)
			end, message := End(f)
			if diff := cmp.Diff(tc.want, want{end, message}); diff != "" {
				t.Errorf("\n%s\nEnd(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFailedPhase finds the phase in which a deployment failed.
func TestFailedPhase(t *testing.T) {
	reject := func(reason string) func(*Input) {
		return func(f *Input) {
			f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   v1alpha1.Phase
	}{
		"Nothing": {
			reason: "A deployment without a revision failed before anything was delivered.",
			change: func(f *Input) { f.State.Current = nil }, want: v1alpha1.PhasePending,
		},
		"Going": {reason: "A revision without a verdict fails in no later phase.", change: func(*Input) {}, want: v1alpha1.PhasePending},
		"Problem": {
			reason: "A problem of the spec has its own phase.",
			change: func(f *Input) { f.Problem = &Problem{Phase: v1alpha1.PhaseCompiling} }, want: v1alpha1.PhaseCompiling,
		},
		"Refused": {
			reason: "A revision that was refused failed while it was delivered.",
			change: reject(rolloutv1alpha1.RejectedDeliveryRefused), want: v1alpha1.PhaseDelivering,
		},
		"LastGate": {
			reason: "A revision that its last Gate rejected failed while it was validated.",
			change: reject(rolloutv1alpha1.RejectedGateFailed), want: v1alpha1.PhaseValidating,
		},
		"WaveGate": {reason: "A revision that the Gate of an earlier step rejected was still being delivered.", want: v1alpha1.PhaseDelivering, change: func(f *Input) {
			reject(rolloutv1alpha1.RejectedGateFailed)(f)
			f.State.Current.Plan = []ledger.Step{{Gate: true}, {Gate: true}}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2)}}}
			f.State.Current.Plan = []ledger.Step{{Gate: true}}
			tc.change(f)
			if got := failedPhase(f); got != tc.want {
				t.Errorf("\n%s\nfailedPhase(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestRollingBackMessage says which attempt goes on, of how many, and to which revision where that is known.
func TestRollingBackMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		target int64
		most   int32
		want   string
	}{
		"Target":   {reason: "A rollback names its target where it is known.", target: 1, most: 3, want: "Attempt 1 of 3 rolls back to revision 1."},
		"NoTarget": {reason: "A rollback whose target is not known names none.", most: 3, want: "Attempt 1 of 3 rolls back."},
		"Edited": {
			reason: "An attempt beyond the current limit of the spec is not counted against the limit.",
			target: 1, want: "Attempt 1 rolls back to revision 1.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Policy: step.Policy{MaxRetries: tc.most}, Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2), Target: tc.target, Cursor: ledger.Cursor{Attempt: 1}}}}
			f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedGateFailed, Message: "Slow."}
			if got, want := rollingBackMessage(f), "Revision 2 was rejected: GateFailed. Slow. "+tc.want; !strings.HasPrefix(got, want) {
				t.Errorf("\n%s\nrollingBackMessage(...): want %q, got %q", tc.reason, want, got)
			}
		})
	}
}

// TestEnded says whether anything is left to do for a revision.
func TestEnded(t *testing.T) {
	verified, rejected := verdicts()[1], verdicts()[2]
	stopped := judged(rejected, -1, done, done, failed)
	stopped.Holds.Progress = step.HoldRollbackOff
	unrecordedStop := judged(rejected, -1, done, done, failed)
	unrecordedStop.Holds.Progress = step.HoldRollbackOff
	unreported := judged(rejected, -1, done, done, failed)
	unreported.Holds.Progress = step.HoldNotRecorded
	broken := judged(verified, -1, done, done, live)
	broken.Problem = &Problem{Reason: v1alpha1.ReasonInvalidIntent, Terminal: true, Phase: v1alpha1.PhaseCompiling}
	cases := map[string]struct {
		reason string
		facts  *Input
		want   bool
	}{
		"Verified":   {reason: "A verified revision that runs came to its end.", facts: judged(verified, -1, done, done, live), want: true},
		"Delivering": {reason: "A revision that is on its way goes on.", facts: judged(nil, -1, done, pushing, nothing)},
		"Failed":     {reason: "A rejected revision that nothing rolls back came to its end.", facts: stopped, want: true},
		"Unrecorded": {reason: "A rejection does not end before the ledger holds it.", facts: unrecorded(unrecordedStop)},
		"Unreported": {reason: "A rejection does not end before it is known whether a rollback follows.", facts: unreported},
		"Conflict":   {reason: "A revision that another claim blocks has no verdict, and goes on when that claim is gone.", facts: judged(nil, -1, done, conflict, nothing)},
		"Problem":    {reason: "A spec that cannot be compiled says nothing of the end of a revision.", facts: broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Ended(tc.facts); got != tc.want {
				p, _, _ := projectPhase(tc.facts)
				t.Errorf("\n%s\nEnded(...): want %t, got %t in phase %s", tc.reason, tc.want, got, p)
			}
		})
	}
}

// TestClusterWaitMessage names a Site whose cluster is not ready.
func TestClusterWaitMessage(t *testing.T) {
	for action, want := range map[deliveryv1alpha1.TreeAction]string{
		deliveryv1alpha1.ActionKeep:    `Site "b" waits for its cluster: It is not known yet whether the Site's cluster is ready.`,
		deliveryv1alpha1.ActionDesired: "A Site waits for its cluster.",
	} {
		f := &Input{}
		place(f, true, action, done, done)
		if diff := cmp.Diff(want, f.clusterWaitMessage()); diff != "" {
			t.Errorf("\nThe message names the waiting Site.\nclusterWaitMessage(): -want, +got:\n%s", diff)
		}
	}
}

// TestContinuesMessage compares the work that goes on while the spec cannot be compiled.
func TestContinuesMessage(t *testing.T) {
	verified, rejected := verdicts()[1], verdicts()[2]
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   string
	}{
		"Nothing": {reason: "Before the first revision nothing goes on.", change: func(f *Input) { f.State.Current = nil }},
		"Going":   {reason: "A revision that is not judged goes on.", change: func(*Input) {}, want: " Revision 2 goes on as it is."},
		"Frozen": {
			reason: "A revision whose step is over waits for a valid spec.",
			change: func(f *Input) { f.Holds = step.Holds{Start: step.HoldFrozen, Progress: step.HoldFrozen} }, want: " Revision 2 waits before its next step.",
		},
		"Verified": {reason: "A verified revision stays.", change: func(f *Input) { f.State.Verdict = verified }, want: " Revision 2 stays as it is."},
		"Rollback": {
			reason: "A rollback that began goes on.",
			change: func(f *Input) { f.State.Verdict, f.State.Cursor.Attempt = rejected, 1 }, want: " The rollback of revision 2 goes on.",
		},
		"Restored": {
			reason: "A rollback that ended leaves all as it is.",
			change: func(f *Input) { f.State.Verdict, f.State.Cursor.Attempt, f.State.Restored = rejected, 1, true },
			want:   " Revision 2 stays as it is.",
		},
		"Stopped": {
			reason: "A rollback that is held leaves all as it is.",
			change: func(f *Input) {
				f.State.Verdict, f.State.Cursor.Attempt, f.Holds.Progress = rejected, 1, step.HoldAttemptsSpent
			},
			want: " Revision 2 stays as it is.",
		},
		"NotRolled": {
			reason: "A rejected revision that nothing rolls back stays.",
			change: func(f *Input) { f.State.Verdict = rejected }, want: " Revision 2 stays as it is.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2)}}}
			tc.change(f)
			if diff := cmp.Diff(tc.want, continuesMessage(f)); diff != "" {
				t.Errorf("\n%s\ncontinuesMessage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPhaseOf(t *testing.T) {
	missing := &Problem{Reason: v1alpha1.ReasonSiteMissing, Message: "Site missing."}
	invalid := &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Not understood.", Terminal: true}
	cases := map[string]struct {
		reason    string
		problem   *Problem
		ordered   bool
		suspended bool
		unjudged  bool
		pending   bool
		a, b      deliveryState
		phase     v1alpha1.Phase
		ready     bool
		message   string
	}{
		"Nothing": {reason: "Nothing was ordered.", phase: v1alpha1.PhasePending, message: "Nothing was ordered yet."},
		"Invalid": {reason: "An invalid spec.", problem: invalid, phase: v1alpha1.PhaseFailed, message: "Not understood."},
		"InvalidDelivered": {
			reason:  "An invalid spec freezes the delivered revision.",
			problem: invalid, ordered: true, a: done, b: done, phase: v1alpha1.PhaseFailed, message: "Not understood. Revision 2 stays as it is.",
		},
		"Unended": {
			reason:  "A message that does not end with a full stop does not run into the next sentence.",
			problem: &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "spec.intent: replicas: must be from 0 to 10000", Terminal: true},
			ordered: true, a: done, b: done, phase: v1alpha1.PhaseFailed, message: "spec.intent: replicas: must be from 0 to 10000. Revision 2 stays as it is.",
		},
		"Missing": {
			reason:  "Something is missing.",
			problem: missing, ordered: true, a: done, b: done, phase: v1alpha1.PhasePending, message: "Site missing. Revision 2 stays as it is.",
		},
		"OnItsWay": {
			reason:  "No object reports anything yet.",
			ordered: true, unjudged: true, a: absent, b: done, phase: v1alpha1.PhaseDelivering,
			message: "The revision is on its way to the repository.",
		},
		"Trouble": {
			reason:  "The message names the obstacle.",
			ordered: true, unjudged: true, a: done, b: trouble, phase: v1alpha1.PhaseDelivering, message: "GitDelivery b: Unreachable: Words.",
		},
		"Conflict": {
			reason:  "An object of another claim fails the deployment while it lasts, without a verdict about its revision.",
			ordered: true, unjudged: true, a: done, b: conflict, phase: v1alpha1.PhaseFailed, message: "GitDelivery b: ObjectConflict: Words.",
		},
		"Done": {
			reason:  "All is delivered.",
			ordered: true, a: done, b: done, phase: v1alpha1.PhaseSucceeded, ready: true, message: "The repository holds the revision.",
		},
		"Drifted": {
			reason:  "The phase does not move with drift, and Ready does.",
			ordered: true, a: done, b: drifted, phase: v1alpha1.PhaseSucceeded,
			message: "The revision was verified, and not every Site is known to run it now: GitDelivery b: Drifted: Words.",
		},
		"NotToRecord": {
			reason:  "A message names the obstacle to recording the verdict.",
			ordered: true, pending: true, a: done, b: trouble, phase: v1alpha1.PhaseValidating,
			message: "The revision is verified, and the ledger has not recorded that yet. GitDelivery b: Unreachable: Words.",
		},
		"Unrecorded": {
			reason:  "A success is shown once the ledger holds it.",
			ordered: true, pending: true, a: done, b: done, phase: v1alpha1.PhaseValidating,
			message: "The revision is verified, once the ledger has recorded it.",
		},
		"Stale": {
			reason:  "Readiness of an earlier generation is none.",
			ordered: true, a: done, b: stale, phase: v1alpha1.PhaseSucceeded, message: "The repository holds the revision.",
		},
		"OtherPosition": {
			reason:  "A report about another position proves nothing.",
			ordered: true, unjudged: true, a: done, b: otherPosition, phase: v1alpha1.PhaseDelivering,
			message: "The revision is on its way to the repository.",
		},
		"OtherTrees": {
			reason:  "A report about other trees proves nothing.",
			ordered: true, unjudged: true, a: done, b: otherTrees, phase: v1alpha1.PhaseDelivering,
			message: "The revision is on its way to the repository.",
		},
		"Suspended": {
			reason: "The current spec is not the delivered revision.", ordered: true, suspended: true, a: done, b: done,
			phase: v1alpha1.PhaseSucceeded, message: "The repository holds the revision. A newer request is held back by spec.suspend.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Compilation: Compilation{Problem: tc.problem}}
			if tc.suspended {
				f.Holds.Start = step.HoldSuspended
			}
			place(f, tc.ordered, deliveryv1alpha1.ActionDesired, tc.a, tc.b)
			if tc.unjudged {
				f.State.Verdict = nil
			}
			if tc.pending {
				unrecorded(f)
			}
			s := Status(f, &v1alpha1.IntentDeploymentStatus{}, now)
			want := []any{tc.phase, tc.ready, tc.message, tc.suspended}
			if diff := cmp.Diff(want, []any{s.Phase, Ready(f), s.Message, s.HeldBack}); diff != "" {
				t.Errorf("\n%s\nStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHeldMessage compares the messages of revision 2 in tracks or in waves, which does not go on.
func TestHeldMessage(t *testing.T) {
	const rejection = "Revision 2 was rejected: GateFailed. Attempt 1 rolls back."
	waves := func(s *ledger.State) {
		inPlace(s)
		s.Current.Plan = []ledger.Step{{Sites: []string{"a", "b"}}, {Sites: []string{"c"}}}
	}
	verified := func(s *ledger.State) { s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified} }
	lastGate := func(s *ledger.State) { s.Cursor.Step, s.Current.Plan[1].Gate = 1, true }
	blocked := func(f *Input) { f.Observed["b"] = observed(f.Desired["b"], trouble) }
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		report report
		change func(*Input)
		phase  v1alpha1.Phase
		want   string
	}{
		"Wave": {
			reason: "A wave that runs waits for the next one only.", state: waves, report: live, change: func(*Input) {},
			phase: v1alpha1.PhaseDelivering, want: "Every Site of the step runs the revision. This is step 1 of 2.",
		},
		"WaveSuspended": {
			reason: "A wave that runs is not followed by the next one while that is suspended.", state: waves, report: live,
			change: func(f *Input) { f.Holds.Progress = step.HoldSuspended }, phase: v1alpha1.PhaseDelivering,
			want: "Every Site of the step runs the revision. This is step 1 of 2. The next step is held back by spec.suspend.",
		},
		"Paused": {
			reason: "A step says that it pauses.", state: func(s *ledger.State) { s.Current.Plan = canarySteps("10m") }, report: live, change: func(*Input) {},
			phase: v1alpha1.PhaseDelivering, want: "The step is live, and pauses. This is step 1 of 2.",
		},
		"RollbackDrains": {
			reason: "A rollback says that it waits until the requests of the rejected revision have ended.",
			state:  rejectCanary(1, ledger.StageShift), report: live, change: func(*Input) {}, phase: v1alpha1.PhaseRollingBack,
			want: rejection + " The requests have left the revision, whose pods stay until these have ended. This is step 1 of 2.",
		},
		"Drains": {
			reason: "The removal of the other track may be suspended.", state: func(s *ledger.State) { s.Cursor.Step = 1; verified(s) }, report: live,
			change: func(f *Input) { f.IsDraining, f.Holds.Progress = true, step.HoldSuspended }, phase: v1alpha1.PhaseValidating,
			want: "The revision was verified, and gets all requests. The pods of the revision before it stay until their requests have ended. " +
				"The next step is held back by spec.suspend.",
		},
		"BlockedMeasured": {
			reason: "A revision without a verdict is not called verified because a delivery is blocked.", state: lastGate, report: live,
			change: func(f *Input) { measureStep(measuring)(f); blocked(f) }, phase: v1alpha1.PhaseValidating, want: "GitDelivery b: Unreachable: Words.",
		},
		"BlockedVerified": {
			reason: "A verdict that cannot be recorded says why.", state: func(s *ledger.State) { s.Cursor.Step = 1; verified(s) }, report: live,
			change: func(f *Input) { unrecorded(f); blocked(f) }, phase: v1alpha1.PhaseValidating,
			want: "The revision is verified, and the ledger has not recorded that yet. GitDelivery b: Unreachable: Words.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newCanary(tc.state, tc.report)
			tc.change(f)
			p, _, message := projectPhase(f)
			if diff := cmp.Diff([]string{string(tc.phase), tc.want}, []string{string(p), message}); diff != "" {
				t.Errorf("\n%s\nphaseOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNothingOrdered compares the messages of a deployment without a revision.
func TestNothingOrdered(t *testing.T) {
	cases := map[string]struct {
		reason   string
		decision Decision
		want     string
	}{
		"First": {reason: "A deployment that begins has ordered nothing.", want: "Nothing was ordered yet."},
		"Suspended": {
			reason: "A suspension says what it holds back.", decision: Decision{Holds: step.Holds{Start: step.HoldSuspended}},
			want: "Nothing was ordered yet. The first revision is held back by spec.suspend.",
		},
		"Unreachable": {
			reason: "The revision in an unreadable ledger is unknown.", decision: Decision{LedgerUnreachable: "The ledger is away."},
			want: "The ledger is away.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, _, got := projectPhase(&Input{Decision: tc.decision}); got != tc.want {
				t.Errorf("\n%s\nphaseOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMessageFits: a status with a message that is too long is refused as a whole, and its claim would say nothing at all.
func TestMessageFits(t *testing.T) {
	cases := map[string]struct {
		reason  string
		message string
		want    string
	}{
		"Short":   {reason: "A short message stays.", message: strings.Repeat("a", 2048), want: strings.Repeat("a", 2048)},
		"Long":    {reason: "Many Sites with long names do not fit.", message: strings.Repeat("a", 2049), want: strings.Repeat("a", 2047) + "…"},
		"Letters": {reason: "A schema counts characters and not bytes.", message: strings.Repeat("ä", 2048), want: strings.Repeat("ä", 2048)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Compilation: Compilation{Problem: &Problem{Reason: v1alpha1.ReasonSiteMissing, Message: tc.message, Phase: v1alpha1.PhasePending}}}
			if diff := cmp.Diff(tc.want, Status(f, &v1alpha1.IntentDeploymentStatus{}, now).Message); diff != "" {
				t.Errorf("\n%s\nStatus(...): message: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
