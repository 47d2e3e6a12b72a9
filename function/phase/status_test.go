package phase

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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
			change: func(f *Input) { f.State.Verdict, f.Stop = rejection, step.HoldNothingToRestore },
			want: want{
				rolloutv1alpha1.EndNothingToRestore,
				"Revision 2 was rejected: GateFailed. Slow. There is nothing to roll back: every directory holds the files of the last verified " +
					"revision.",
			},
		},
		"Stays": {
			reason: "A revision that may run still says why it was not rolled back.",
			change: func(f *Input) { f.State.Verdict, f.Stop = rejection, step.HoldRollbackOff },
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
			f := &Input{MaxAttempts: tc.most, Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2), Target: tc.target, Cursor: ledger.Cursor{Attempt: 1}}}}
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
	stopped.Stop = step.HoldRollbackOff
	unrecordedStop := judged(rejected, -1, done, done, failed)
	unrecordedStop.Stop = step.HoldRollbackOff
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
		"Problem":    {reason: "A spec that cannot be compiled says nothing of the end of a revision.", facts: broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Ended(tc.facts); got != tc.want {
				p, _, _ := phaseOf(tc.facts)
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
		"Nothing":  {reason: "Before the first revision nothing goes on.", change: func(f *Input) { f.State.Current = nil }},
		"Going":    {reason: "A revision that is not judged goes on.", change: func(*Input) {}, want: " Revision 2 goes on as it is."},
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
			change: func(f *Input) { f.State.Verdict, f.State.Cursor.Attempt, f.Stop = rejected, 1, step.HoldAttemptsSpent },
			want:   " Revision 2 stays as it is.",
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
			f := &Input{Compilation: Compilation{Problem: tc.problem}, Decision: Decision{Suspended: tc.suspended}}
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

const (
	benchSites     = 100
	benchRevisions = 10
)

// BenchmarkDecide decides on the rollout of a deployment to many Sites with a long history, and projects it. A call of the function does that
// beside reading its request.
func BenchmarkDecide(b *testing.B) {
	f := fleet(b)
	desired := step.Desired{Request: f.State.Current.Request, Plan: f.State.Current.Plan}
	for b.Loop() {
		in := step.Input{Versions: step.Versions{Scheme: 1, Renderer: 1}, Desired: &desired, Proof: f.Proof()}
		if e, _ := step.Step(f.State, in); e != nil {
			b.Fatalf("want no event, got %+v", e)
		}
		status := Status(f, &v1alpha1.IntentDeploymentStatus{}, now)
		if Conditions(f); status.Phase != v1alpha1.PhaseSucceeded || status.Delivery.SitesReady != "100/100" || !Ready(f) {
			b.Fatalf("phase %s, %s, ready %t", status.Phase, status.Delivery.SitesReady, Ready(f))
		}
	}
}

// fleet is a deployment in its steady state.
func fleet(b *testing.B) *Input {
	b.Helper()
	plan, trees := ledger.Step{}, []ledger.SiteTree{}
	d, s := &deliveryv1alpha1.GitDelivery{}, &deliveryv1alpha1.SiteSync{}
	for i := range benchSites {
		name := fmt.Sprintf("edge%d", i)
		plan.Sites, trees = append(plan.Sites, name), append(trees, ledger.SiteTree{Site: name, ID: "tree"})
		d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, deliveryv1alpha1.Tree{
			Site: name, Branch: "main", Path: "clusters/" + name, Action: deliveryv1alpha1.ActionDesired, Tree: "tree",
		})
		d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, deliveryv1alpha1.DeliveredTree{
			Site: name, Path: "clusters/" + name, Tree: "tree", Revision: benchRevisions,
		})
		s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, deliveryv1alpha1.SiteTree{Name: name, Path: "clusters/" + name, Tree: "tree"})
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{Name: name, State: deliveryv1alpha1.SiteLive, Commit: "c"})
	}
	verified := &ledger.Verdict{Result: ledger.VerdictVerified}
	state := ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 2 * benchRevisions}, Stable: benchRevisions, Verdict: verified,
		Current: &ledger.Revision{
			Number: benchRevisions, Request: ledger.Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 1}, Plan: []ledger.Step{plan},
		},
	}
	for revision := range int64(benchRevisions) {
		state.History = append(state.History, ledger.Past{Number: revision + 1, Verdict: verified, Trees: trees})
	}
	position := state.Position()
	live := []xpv2.Condition{{Type: xpv2.TypeReady, Status: corev1.ConditionTrue}, {Type: xpv2.TypeSynced, Status: corev1.ConditionTrue}}
	d.Spec.ForProvider.Position, d.Status.AtProvider.Record = &position, &deliveryv1alpha1.LedgerRecord{Position: position}
	d.SetConditions(live...)
	s.Spec.ForProvider.Position, s.Status.AtProvider.Position = &position, &position
	s.SetConditions(live...)
	observed, watched := decoded(b, d), decoded(b, s)
	return &Input{
		Digest: "digest",
		Comparison: evidence.Comparison{
			State: state, Recorded: state,
			Desired: map[string]*deliveryv1alpha1.GitDelivery{"delivery": d}, Sync: s, Unobserved: map[string]bool{},
			Observed: map[string]*deliveryv1alpha1.GitDelivery{"delivery": observed}, ObservedSync: watched,
		},
	}
}

// decoded shares no memory with its original, like a value that is decoded from a request.
func decoded[T any](b *testing.B, v *T) *T {
	b.Helper()
	text, err := json.Marshal(v)
	out := new(T)
	if err := errors.Join(err, json.Unmarshal(text, out)); err != nil {
		b.Fatal(err)
	}
	return out
}
