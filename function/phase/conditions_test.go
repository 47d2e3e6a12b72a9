package phase

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// inJudgement is a revision that a Gate judges, which began to measure or not.
func inJudgement(v *ledger.Verdict, recorded, begun bool, r report) *Input {
	f := &Input{Digest: "d"}
	place(f, true, deliveryv1alpha1.ActionDesired, done, done)
	f.State.Current.Plan, f.State.Verdict = []ledger.Step{{Sites: []string{"a", "b"}, Gate: true}}, nil
	follow(f, true)
	g := &rolloutv1alpha1.Gate{}
	g.SetAnnotations(map[string]string{evidence.AnnotationRevision: evidence.RevisionID(f.State)})
	g.Spec.ForProvider.Position, g.Status.AtProvider.Position = new(f.State.Position()), new(f.State.Position())
	if begun {
		g.Status.AtProvider.StartedAt = &now
	}
	f.Gates = map[string]*rolloutv1alpha1.Gate{"gate": g}
	f.State.Verdict = v
	follow(f, recorded)
	watch(f, r, "a", "b")
	return f
}

// goingBack is a revision that an attempt takes back.
func goingBack(restored, recorded bool) *Input {
	f := &Input{Digest: "d"}
	place(f, true, deliveryv1alpha1.ActionRestore, done, done)
	f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedGateFailed}
	f.State.Cursor.Attempt, f.State.Target = 1, 1
	if restored {
		follow(f, true)
		f.State.Restored = true
	}
	follow(f, recorded)
	watch(f, live, "a", "b")
	return f
}

// TestUnprovenRollback rolls back at Sites whose engines do not report, and whose delivery does not count.
func TestUnprovenRollback(t *testing.T) {
	cases := map[string]struct {
		reason   string
		state    deliveryState
		restored bool
		want     string
	}{
		"Pushing":  {reason: "A rollback that is on its way to the repositories goes on.", state: pushing, want: v1alpha1.ReasonProgressing},
		"Applied":  {reason: "A rollback that no Site proves needs a user.", state: done, want: v1alpha1.ReasonSyncNotObserved},
		"Restored": {reason: "A rollback that came to its end waits for the ledger alone.", state: done, restored: true, want: v1alpha1.ReasonProgressing},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := goingBack(tc.restored, false)
			f.Sync, f.ObservedSync, f.Unobserved = nil, nil, map[string]bool{"a": false, "b": false}
			for name, d := range f.Desired {
				f.Observed[name] = observed(d, tc.state)
			}
			if got := stalledCondition(f); got.Reason != tc.want {
				t.Errorf("\n%s\nstalledCondition(...): want %s, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestTurns checks that conditions change only if a user or a client has to know: each change costs a token of Crossplane's circuit breaker.
func TestTurns(t *testing.T) {
	verified := verdicts()[1]
	cases := map[string]struct {
		reason string
		// same conditions, and the input that then changes them.
		same   []*Input
		turned *Input
		phases []v1alpha1.Phase
	}{
		"Judged": {
			reason: "From when it is delivered until its verdict is remembered.",
			same: []*Input{
				inJudgement(nil, true, false, syncing), inJudgement(nil, true, false, live), inJudgement(nil, true, true, live),
				inJudgement(nil, true, true, syncing), inJudgement(verified, false, true, live),
			},
			turned: inJudgement(verified, true, true, live),
			phases: []v1alpha1.Phase{"Delivering", "Validating", "Validating", "Validating", "Validating", "Succeeded"},
		},
		"Back": {
			reason: "From when an attempt begins until it is remembered how it ended.",
			same:   []*Input{goingBack(false, false), goingBack(false, true), goingBack(true, false)},
			turned: goingBack(true, true),
			phases: []v1alpha1.Phase{"RollingBack", "RollingBack", "RollingBack", "Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var phases []v1alpha1.Phase
			for i, f := range append(tc.same, tc.turned) {
				p, _, _ := projectPhase(f)
				phases = append(phases, p)
				diff := cmp.Diff(Conditions(tc.same[0]), Conditions(f))
				if (diff != "") != (f == tc.turned) {
					t.Errorf("\n%s\nConditions(...) of %d: -first, +got:\n%s", tc.reason, i, diff)
				}
			}
			if diff := cmp.Diff(tc.phases, phases); diff != "" {
				t.Errorf("\n%s\nphaseOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLedgerUnreachableConditions compares the conditions while the ledger cannot be read or written.
func TestLedgerUnreachableConditions(t *testing.T) {
	verified := verdicts()[1]
	cases := map[string]struct {
		reason string
		f      *Input
		// Recorded, Stalled and Reconciling, without the overdue ledger and with it.
		want, overdue []string
	}{
		"First": {
			reason: "A deployment whose ledger was never opened says why nothing is ordered.", f: &Input{Digest: "d"},
			want:    []string{"False LedgerUnreachable", "False Progressing", "True Progressing"},
			overdue: []string{"False LedgerUnreachable", "True LedgerUnreachable", "False Idle"},
		},
		"Delivering": {
			reason: "A revision that is not judged says that no verdict can be recorded.", f: inJudgement(nil, true, false, syncing),
			want:    []string{"False LedgerUnreachable", "False Progressing", "True Progressing"},
			overdue: []string{"False LedgerUnreachable", "True LedgerUnreachable", "False Idle"},
		},
		"Verified": {
			reason: "A verdict that is not recorded says why.", f: inJudgement(verified, false, true, live),
			want:    []string{"False LedgerUnreachable", "False Progressing", "True Progressing"},
			overdue: []string{"False LedgerUnreachable", "True LedgerUnreachable", "False Idle"},
		},
		"Recorded": {
			reason: "A deployment with nothing to record does not depend on the ledger now.", f: inJudgement(verified, true, true, live),
			want: []string{"True Recorded", "False Progressing", "False Idle"}, overdue: []string{"True Recorded", "True LedgerUnreachable", "False Idle"},
		},
		"RollingBack": {
			reason: "A rollback whose end cannot be recorded says why, and is stalled when that takes too long.", f: goingBack(true, false),
			want:    []string{"False LedgerUnreachable", "False Progressing", "True RollingBack"},
			overdue: []string{"False LedgerUnreachable", "True LedgerUnreachable", "False Idle"},
		},
		"Invalid": {
			reason:  "A user has to correct an invalid spec first.",
			f:       &Input{Compilation: Compilation{Problem: &Problem{Reason: v1alpha1.ReasonInvalidSpec, Message: "Words.", Terminal: true}}},
			want:    []string{"False LedgerUnreachable", "True InvalidSpec", "False Idle"},
			overdue: []string{"False LedgerUnreachable", "True InvalidSpec", "False Idle"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.f.LedgerUnreachable = "The ledger is away."
			for isOverdue, want := range map[bool][]string{false: tc.want, true: tc.overdue} {
				tc.f.IsLedgerOverdue = isOverdue
				var got []string
				for _, c := range []Condition{recordedCondition(tc.f), stalledCondition(tc.f), reconcilingCondition(tc.f)} {
					got = append(got, string(c.Status)+" "+c.Reason)
					if c.Reason == v1alpha1.ReasonLedgerUnreachable && !strings.HasPrefix(c.Message, tc.f.LedgerUnreachable) {
						t.Errorf("\n%s\n%s does not say why: %q", tc.reason, c.Type, c.Message)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("\n%s\nConditions(...), overdue %t: -want, +got:\n%s", tc.reason, isOverdue, diff)
				}
			}
		})
	}
}

// TestIsAmongSteps looks at a revision that shares requests in its first step.
func TestIsAmongSteps(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*ledger.State)
		want   bool
	}{
		"First":    {reason: "A revision that shares requests goes through steps until the last one.", change: func(*ledger.State) {}, want: true},
		"Last":     {reason: "A revision that has all requests is not among its steps.", change: func(s *ledger.State) { s.Cursor.Step = 1 }},
		"Waves":    {reason: "A revision that shares no requests says where it is in conditions.", change: func(s *ledger.State) { s.Current.Plan[0].Weight = nil }},
		"Rejected": {reason: "A rejected revision goes through no steps any more.", change: func(s *ledger.State) { s.Verdict = verdicts()[2] }},
		"Nothing":  {reason: "A deployment without a revision goes through no steps.", change: func(s *ledger.State) { s.Current = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{}
			f.State.Current = newRevision(2)
			f.State.Current.Plan = []ledger.Step{{Sites: []string{"a"}, Weight: new(int32(10))}, {Sites: []string{"a"}}}
			tc.change(&f.State)
			if got := f.isAmongSteps(); got != tc.want {
				t.Errorf("\n%s\nisAmongSteps(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAvailableCondition says whether a revision runs while another one goes out.
func TestAvailableCondition(t *testing.T) {
	verified, rejected := verdicts()[1], verdicts()[2]
	cases := map[string]struct {
		reason string
		facts  *Input
		want   bool
		why    string
	}{
		"Nothing":    {reason: "Before the first revision nothing runs.", facts: &Input{}, why: v1alpha1.ReasonNothingOrdered},
		"Delivering": {reason: "A first revision that is on its way does not run.", facts: judged(nil, -1, done, pushing, nothing), why: v1alpha1.ReasonDelivering},
		"Applied": {
			reason: "A first revision that is delivered, and that the Sites do not report to run, is not available.",
			facts:  judged(nil, -1, done, done, syncing), why: v1alpha1.ReasonNotLive,
		},
		"Live": {
			reason: "A revision that the Sites report to run is available.",
			facts:  judged(verified, -1, done, done, live), want: true, why: v1alpha1.ReasonLive,
		},
		"Rejected": {
			reason: "A rejected revision with nothing before it is not available.",
			facts:  judged(rejected, -1, done, done, failed), why: v1alpha1.ReasonDeploymentFailed,
		},
		"RolledBack": {reason: "After a rollback its target is available.", facts: recorded(goneBack(live), 1), want: true, why: v1alpha1.ReasonRolledBack},
		"Earlier": {
			reason: "While a revision goes out, the previous revision is available.",
			facts:  recorded(judged(nil, -1, done, pushing, nothing), 1), want: true, why: v1alpha1.ReasonEarlierRevision,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := availableCondition(tc.facts)
			if diff := cmp.Diff(projection.Is(v1alpha1.TypeAvailable, tc.want, tc.why, got.Message), got); diff != "" {
				t.Errorf("\n%s\navailableCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// recorded lets the ledger have verified a revision before.
func recorded(f *Input, stable int64) *Input {
	f.Recorded.Stable = stable
	return f
}

// TestValidatedCondition says how far the judgement of a revision is.
func TestValidatedCondition(t *testing.T) {
	verified, rejected := verdicts()[1], verdicts()[2]
	unmeasured := judged(verified, -1, done, done, live)
	unmeasured.GatesDisabled = false
	released := inJudgement(verified, true, true, live)
	released.State.Cursor.GateReleased = 1
	cases := map[string]struct {
		reason string
		facts  *Input
		want   string
		// says is in the message.
		says string
	}{
		"Nothing":    {reason: "Before the first revision there is nothing to judge.", facts: &Input{}, want: "False NothingOrdered"},
		"Rejected":   {reason: "A rejected revision says why.", facts: judged(rejected, -1, done, done, failed), want: "False SyncFailed"},
		"Delivering": {reason: "A revision that is on its way is not judged yet.", facts: judged(nil, -1, done, pushing, nothing), want: "Unknown Delivering"},
		"Syncing":    {reason: "A revision is judged once the Sites run it.", facts: judged(nil, -1, done, done, syncing), want: "Unknown Syncing"},
		"Measuring":  {reason: "A revision with a Gate is judged by that.", facts: inJudgement(nil, true, true, live), want: "Unknown Measuring"},
		"Passed":     {reason: "A revision whose Gate passed is validated.", facts: inJudgement(verified, true, true, live), want: "True Passed"},
		"Released":   {reason: "A Gate that a user released lets the revision pass.", facts: released, want: "True Passed", says: "a user released it"},
		"Unrecorded": {reason: "A verdict counts once the ledger holds it.", facts: inJudgement(verified, false, true, live), want: "Unknown Measuring"},
		"GatesOff":   {reason: "A revision whose gates are off was measured by nothing.", facts: judged(verified, -1, done, done, live), want: "True GatesOff"},
		"NoGates":    {reason: "A revision without a Gate was measured by nothing.", facts: unmeasured, want: "True NoGates"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := validatedCondition(tc.facts)
			if diff := cmp.Diff(tc.want, string(got.Status)+" "+got.Reason); diff != "" || !strings.Contains(got.Message, tc.says) {
				t.Errorf("\n%s\nvalidatedCondition(...): %q: -want, +got:\n%s", tc.reason, got.Message, diff)
			}
		})
	}
}

// TestSupportedCondition names fields that do nothing.
func TestSupportedCondition(t *testing.T) {
	var fields []string
	for i := range maxNamed + 1 {
		fields = append(fields, fmt.Sprint("f", i))
	}
	prefix := "Set, and without effect in this version: "
	cases := map[string]struct {
		reason string
		fields []string
		want   Condition
	}{
		"All": {reason: "A spec whose fields all have an effect is supported.", want: projection.Is(v1alpha1.TypeSupported, true, v1alpha1.ReasonSupported, "")},
		"Two": {
			reason: "Fields without an effect are named.",
			fields: []string{"a", "b"}, want: projection.Is(v1alpha1.TypeSupported, false, v1alpha1.ReasonNotYetSupported, prefix+"a, b"),
		},
		"Most": {
			reason: "As many fields as a message names are all named.",
			fields: fields[:maxNamed],
			want:   projection.Is(v1alpha1.TypeSupported, false, v1alpha1.ReasonNotYetSupported, prefix+strings.Join(fields[:maxNamed], ", ")),
		},
		"Many": {
			reason: "A message that does not name all fields says so.",
			fields: fields,
			want: projection.Is(
				v1alpha1.TypeSupported, false, v1alpha1.ReasonNotYetSupported, prefix+strings.Join(fields[:maxNamed], ", ")+", and more",
			),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, supportedCondition(&Input{Compilation: Compilation{Unsupported: tc.fields}})); diff != "" {
				t.Errorf("\n%s\nsupportedCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStalledByProblem asks who has to act on a problem of the spec.
func TestStalledByProblem(t *testing.T) {
	cases := map[string]struct {
		reason  string
		problem Problem
		want    string
	}{
		"Terminal": {
			reason:  "A problem that only a user can solve stalls the deployment.",
			problem: Problem{Reason: v1alpha1.ReasonInvalidIntent, Terminal: true}, want: "True InvalidIntent",
		},
		"Retried": {
			reason:  "A problem that may be over when it is tried again stalls nothing.",
			problem: Problem{Reason: v1alpha1.ReasonRenderTimeout, Terminal: true, Retried: true}, want: "False Progressing",
		},
		"Pending": {
			reason:  "A problem that ends when something appears stalls nothing.",
			problem: Problem{Reason: v1alpha1.ReasonSiteMissing}, want: "False Progressing",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := stalledCondition(&Input{Compilation: Compilation{Problem: &tc.problem}})
			if diff := cmp.Diff(tc.want, string(got.Status)+" "+got.Reason); diff != "" {
				t.Errorf("\n%s\nstalledCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEarlierObstacle(t *testing.T) {
	f := &Input{}
	place(f, true, deliveryv1alpha1.ActionDesired, refused, done)
	f.State.Current, f.State.Verdict = newRevision(3), nil
	for name := range f.Desired {
		f.Desired[name] = desired(name, f.State.Position(), deliveryv1alpha1.ActionDesired)
	}
	if c := stalledCondition(f); c.Status != corev1.ConditionFalse {
		t.Errorf("stalled(...): a refusal of revision 2 must not stall revision 3: %+v", c)
	}
}

// TestConflictConditions holds the conditions of a deployment whose object another claim delivers.
func TestConflictConditions(t *testing.T) {
	f := &Input{}
	place(f, true, deliveryv1alpha1.ActionDesired, done, conflict)
	f.State.Verdict = nil
	got := map[string]string{}
	for _, c := range Conditions(f) {
		got[c.Type] = string(c.Status) + " " + c.Reason
	}
	want := map[string]string{
		v1alpha1.TypeDelivered: "False ObjectConflict", v1alpha1.TypeStalled: "True ObjectConflict", v1alpha1.TypeReconciling: "False Idle",
		v1alpha1.TypeRolledBack: "False NotRolledBack",
	}
	for typ, condition := range want {
		if diff := cmp.Diff(condition, got[typ]); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", typ, diff)
		}
	}
	if v := f.Proof().Failure; v != nil {
		t.Errorf("The revision is not rejected for it, and goes out when the other claim is gone: got %+v", v)
	}
}
