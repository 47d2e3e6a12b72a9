package phase

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

var now = metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC))

// newRevision is a revision that goes out in one step.
func newRevision(number int64) *ledger.Revision {
	return &ledger.Revision{Number: number, Plan: make([]ledger.Step, 1)}
}

// unrecorded makes facts in which the ledger does not hold the decision yet.
func unrecorded(f *Input) *Input {
	f.State.Seq = f.Recorded.Seq + 1
	return f
}

// deliveryState is what one delivery reports.
type deliveryState string

const (
	absent        deliveryState = "Absent"
	silent        deliveryState = "Silent"
	pushing       deliveryState = "Pushing"
	refused       deliveryState = "NotOwner"
	trouble       deliveryState = "Unreachable"
	conflict      deliveryState = "ObjectConflict"
	drifted       deliveryState = "Drifted"
	stale         deliveryState = "StaleGeneration"
	otherPosition deliveryState = "OtherPosition"
	otherTrees    deliveryState = "OtherTrees"
	done          deliveryState = "Delivered"
)

func allDeliveryStates() []deliveryState {
	return []deliveryState{absent, silent, pushing, refused, trouble, drifted, stale, otherPosition, otherTrees, done}
}

func desired(name string, position ledger.Position, action deliveryv1alpha1.TreeAction) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetName(name)
	d.Spec.ForProvider.Position = &position
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: name, Branch: "main", Path: name, Action: action, Tree: "t"}}
	return d
}

// observed is the delivery with some deliveryState, or nil.
func observed(d *deliveryv1alpha1.GitDelivery, e deliveryState) *deliveryv1alpha1.GitDelivery {
	if e == absent {
		return nil
	}
	d = d.DeepCopy()
	d.SetGeneration(4)
	ready := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: xpv2.ConditionReason(e), ObservedGeneration: 4, Message: "Words."}
	p := d.Spec.ForProvider.Position
	d.Status.AtProvider.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt}
	if slices.Contains([]deliveryState{drifted, stale, otherPosition, otherTrees, done}, e) {
		d.Status.AtProvider.Waiting, d.Status.AtProvider.Record = nil, &deliveryv1alpha1.LedgerRecord{Position: *p}
		d.Status.AtProvider.Remote = &deliveryv1alpha1.Remote{Commit: "0123456789abcdef"}
	}
	switch e {
	case silent:
		return d
	case stale:
		ready.Status, ready.ObservedGeneration = corev1.ConditionTrue, 3
	case otherPosition:
		ready.Status = corev1.ConditionTrue
		d.Spec.ForProvider.Position.Revision, d.Status.AtProvider.Record.Position.Revision = 1, 1
	case otherTrees:
		ready.Status = corev1.ConditionTrue
		d.Spec.ForProvider.Trees[0].Tree = "before"
	case done:
		ready.Status = corev1.ConditionTrue
	}
	d.Status.SetConditions(ready, xpv2.ReconcileSuccess().WithObservedGeneration(4))
	return d
}

// startHolds are holds of the next revision. Users see each of them but the last.
func startHolds() []step.Hold {
	return []step.Hold{step.HoldNone, step.HoldSuspended, step.HoldOutranked, step.HoldVerdictWaits}
}

// every calls with all combinations of facts.
func every(do func(*Input)) int {
	n := 0
	problems := []*Problem{nil, {Reason: v1alpha1.ReasonSiteMissing, Message: "Words.", Phase: v1alpha1.PhasePending}}
	for _, p := range []v1alpha1.Phase{v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering} {
		problems = append(problems, &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Words.", Terminal: true, Phase: p})
	}
	for _, problem := range problems {
		for _, ordered := range []bool{false, true} {
			for _, a := range allDeliveryStates() {
				for _, b := range allDeliveryStates() {
					for _, action := range []deliveryv1alpha1.TreeAction{deliveryv1alpha1.ActionDesired, deliveryv1alpha1.ActionKeep} {
						for flags := range 16 {
							f := &Input{Digest: "d", GatesDisabled: flags&1 != 0, Compilation: Compilation{Problem: problem}, Decision: Decision{Holds: step.Holds{Start: startHolds()[flags>>1&3]}}}
							if flags&8 != 0 {
								f.Unsupported = []string{"spec.x"}
							}
							place(f, ordered, action, a, b)
							do(f)
							n++
						}
					}
				}
			}
		}
	}
	return n
}

func place(f *Input, ordered bool, action deliveryv1alpha1.TreeAction, a, b deliveryState) {
	f.Desired, f.Observed = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]*deliveryv1alpha1.GitDelivery{}
	if !ordered {
		return
	}
	f.State.Current, f.Unobserved = newRevision(2), map[string]bool{"a": true, "b": true}
	f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
	for name, e := range map[string]deliveryState{"a": a, "b": b} {
		tree := deliveryv1alpha1.ActionDesired
		if name == "b" {
			tree = action
		}
		f.Desired[name] = desired(name, f.State.Position(), tree)
		if o := observed(f.Desired[name], e); o != nil {
			f.Observed[name] = o
		}
	}
}

// lasts are statuses that a call may find.
func lasts() []v1alpha1.IntentDeploymentStatus {
	out := []v1alpha1.IntentDeploymentStatus{{}}
	for _, p := range []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering, v1alpha1.PhaseDelivering,
		v1alpha1.PhaseValidating, v1alpha1.PhaseSucceeded, v1alpha1.PhaseFailed,
	} {
		for _, digest := range []string{"d", "before"} {
			for _, revision := range []int64{0, 1, 2} {
				out = append(out, v1alpha1.IntentDeploymentStatus{Phase: p, IntentDigest: digest, Revision: revision})
			}
		}
	}
	return out
}

func types() []string {
	return []string{
		v1alpha1.TypeAvailable, v1alpha1.TypeDelivered, v1alpha1.TypeReconciling, v1alpha1.TypeRecorded, v1alpha1.TypeRolledBack,
		v1alpha1.TypeSitesFound, v1alpha1.TypeStalled, v1alpha1.TypeSupported, v1alpha1.TypeValid, v1alpha1.TypeValidated,
	}
}

var clockwork = regexp.MustCompile(`[0-9]+(s|m|h|:[0-9])|2031`)

// TestEverything holds for all combinations of facts, and all last statuses.
func TestEverything(t *testing.T) {
	last := lasts()
	// Transitions depend on little of the facts: each such little is enough once.
	visited := map[[3]any]bool{}
	n := every(func(f *Input) {
		conditions := Conditions(f)
		if diff := cmp.Diff(conditions, Conditions(f)); diff != "" {
			t.Fatalf("Conditions(...): the same facts, another answer: -want, +got:\n%s", diff)
		}
		checkConditions(t, f, conditions)
		s := Status(f, &last[0], now)
		checkStatus(t, f, s)
		key := [3]any{s.Phase, s.Revision, failedPhase(f)}
		if visited[key] {
			return
		}
		visited[key] = true
		for i := range last {
			checkTransitions(t, &last[i], Status(f, &last[i], now))
		}
	})
	t.Logf("%d combinations of facts, and %d of the inputs of transitions, each with %d last statuses", n, len(visited), len(last))
}

func checkConditions(t *testing.T, f *Input, conditions []Condition) {
	t.Helper()
	var got []string
	statuses := map[string]corev1.ConditionStatus{}
	for _, c := range conditions {
		got = append(got, c.Type)
		statuses[c.Type] = c.Status
		if c.Reason == "" || c.Status == "" {
			t.Fatalf("Conditions(...): %s has no reason or no status: %+v", c.Type, f)
		}
		if clockwork.MatchString(c.Message) {
			t.Fatalf("Conditions(...): %s says a time: %q", c.Type, c.Message)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(types(), got); diff != "" {
		t.Fatalf("Conditions(...): types: -want, +got:\n%s", diff)
	}
	if statuses[v1alpha1.TypeStalled] == corev1.ConditionTrue && statuses[v1alpha1.TypeReconciling] == corev1.ConditionTrue {
		t.Fatalf("Conditions(...): both Stalled and Reconciling: %+v", f)
	}
	if Ready(f) && (statuses[v1alpha1.TypeStalled] != corev1.ConditionFalse || statuses[v1alpha1.TypeReconciling] != corev1.ConditionFalse ||
		statuses[v1alpha1.TypeDelivered] != corev1.ConditionTrue || statuses[v1alpha1.TypeRecorded] != corev1.ConditionTrue || statuses[v1alpha1.TypeValid] != corev1.ConditionTrue) {
		t.Fatalf("Conditions(...): ready, and not settled: %+v", conditions)
	}
}

func checkStatus(t *testing.T, f *Input, s *v1alpha1.IntentDeploymentStatus) {
	t.Helper()
	if _, ok := Edges()[s.Phase]; !ok || s.Phase == "" {
		t.Fatalf("Status(...): unknown phase %q", s.Phase)
	}
	if Ready(f) && (s.Phase != v1alpha1.PhaseSucceeded || s.Outcome != v1alpha1.OutcomeSucceeded || f.Problem != nil || s.HeldBack) {
		t.Fatalf("Status(...): ready in phase %s/%s: %+v", s.Phase, s.Outcome, f)
	}
	if isHeldBack := f.Holds.Start == step.HoldSuspended || f.Holds.Start == step.HoldOutranked; s.HeldBack != isHeldBack {
		t.Fatalf("Status(...): held back %t with %+v", s.HeldBack, f.Holds)
	}
	outcome := map[v1alpha1.Phase]v1alpha1.Outcome{v1alpha1.PhaseFailed: v1alpha1.OutcomeFailed, v1alpha1.PhaseSucceeded: v1alpha1.OutcomeSucceeded}[s.Phase]
	if s.Outcome != outcome || s.Message == "" || clockwork.MatchString(s.Message) {
		t.Fatalf("Status(...): phase %s has outcome %q and message %q", s.Phase, s.Outcome, s.Message)
	}
	proves := func(d *deliveryv1alpha1.GitDelivery) bool {
		return d.Status.AtProvider.Record != nil && d.Status.AtProvider.Record.Position.Revision == s.Revision
	}
	if s.Delivery.GitCommit != "" && !slices.ContainsFunc(slices.Collect(maps.Values(f.Observed)), proves) {
		t.Fatalf("Status(...): the commit is of another revision than %d: %+v", s.Revision, f)
	}
}

func checkTransitions(t *testing.T, last, s *v1alpha1.IntentDeploymentStatus) {
	t.Helper()
	from := last.Phase
	for _, tr := range s.Transitions {
		if tr.From != from || !phaseTable().Legal(tr.From, tr.To) {
			t.Fatalf("Status(...): %q to %q is an illegal change after %q", tr.From, tr.To, from)
		}
		from = tr.To
	}
	if from != s.Phase {
		t.Fatalf("Status(...): the transitions end in %q and not in %q: %+v", from, s.Phase, s.Transitions)
	}
	repeated := Log(s, s, phasePath{failedIn: v1alpha1.PhasePending, isRolledBack: s.Phase == v1alpha1.PhaseRollingBack}, now)
	if len(repeated) != len(s.Transitions) {
		t.Fatalf("Log(...): nothing changed, and it grew: %+v", repeated)
	}
}

func TestTransitionLog(t *testing.T) {
	succeeded := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseSucceeded, IntentDigest: "d", Revision: 1}
	failed := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "bad", Revision: 1}
	cases := map[string]struct {
		reason   string
		last     v1alpha1.IntentDeploymentStatus
		next     v1alpha1.IntentDeploymentStatus
		failedIn v1alpha1.Phase
		want     []v1alpha1.Phase
	}{
		"First": {
			reason: "All edges that were crossed in one call.",
			next:   v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseDelivering, IntentDigest: "d", Revision: 1},
			want:   []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering"},
		},
		"FirstFails": {
			reason: "A failure leaves where it happened.",
			next:   v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "d"}, failedIn: v1alpha1.PhaseCompiling,
			want: []v1alpha1.Phase{"Pending", "Compiling", "Failed"},
		},
		"Quiet": {reason: "Nothing changed.", last: succeeded, next: succeeded},
		"Frozen": {
			reason: "An invalid edit starts again.",
			last:   succeeded, next: failed, failedIn: v1alpha1.PhaseCompiling, want: []v1alpha1.Phase{"Pending", "Compiling", "Failed"},
		},
		"Fixed": {
			reason: "A fix that returns to the same revision passes through all phases.",
			last:   failed, next: succeeded, want: []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"},
		},
		"Thawed": {
			reason: "A fix outside of the spec begins again at Pending too.", next: succeeded,
			last: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "d", Revision: 1},
			want: []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"},
		},
		"Appeared": {
			reason: "The missing object appeared.", next: succeeded,
			last: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhasePending, IntentDigest: "d", Revision: 1},
			want: []v1alpha1.Phase{"Compiling", "Rendering", "Delivering", "Validating", "Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []v1alpha1.Phase
			for _, tr := range Log(&tc.last, &tc.next, phasePath{failedIn: tc.failedIn}, now) {
				got = append(got, tr.To)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLog(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLogOfRejection says on a change to Failed why the revision was rejected, and on the end of a rollback which revision runs again.
func TestLogOfRejection(t *testing.T) {
	statusIn := func(phase v1alpha1.Phase, digest string) v1alpha1.IntentDeploymentStatus {
		return v1alpha1.IntentDeploymentStatus{Phase: phase, IntentDigest: digest, Revision: 5}
	}
	rejected := phasePath{failedIn: v1alpha1.PhaseValidating, rejected: rolloutv1alpha1.RejectedGateFailed}
	rolledBack := rejected
	rolledBack.isRolledBack, rolledBack.target = true, 4
	cases := map[string]struct {
		reason string
		last   v1alpha1.IntentDeploymentStatus
		next   v1alpha1.IntentDeploymentStatus
		path   phasePath
		want   []string
	}{
		"Rejected": {
			reason: "The failure of a rejected revision has the reason.",
			last:   statusIn("Validating", "d"), next: statusIn("Failed", "d"), path: rejected, want: []string{"Failed GateFailed 0"},
		},
		"RolledBack": {
			reason: "The end of a rollback has the reason, and the running revision.",
			last:   statusIn("RollingBack", "d"), next: statusIn("Succeeded", "d"), path: rolledBack, want: []string{"Succeeded GateFailed 4"},
		},
		"AtOnce": {
			reason: "A rejection and its rollback may be seen in one call.",
			last:   statusIn("Validating", "d"), next: statusIn("Succeeded", "d"), path: rolledBack,
			want: []string{"Failed GateFailed 0", "RollingBack  0", "Succeeded GateFailed 4"},
		},
		"InvalidSpec": {
			reason: "A spec that is not valid rejects no revision.",
			last:   statusIn("Succeeded", "d"), next: statusIn("Failed", "bad"), path: phasePath{failedIn: v1alpha1.PhasePending},
			want: []string{"Pending  0", "Failed  0"},
		},
		"Verified": {
			reason: "A success without a rollback restores nothing.",
			last:   statusIn("Validating", "d"), next: statusIn("Succeeded", "d"), path: phasePath{target: 4}, want: []string{"Succeeded  0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tr := range Log(&tc.last, &tc.next, tc.path, now) {
				got = append(got, fmt.Sprintf("%s %s %d", tr.To, tr.Rejected, tr.Restored))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLog(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLogIsBounded(t *testing.T) {
	s := v1alpha1.IntentDeploymentStatus{}
	for i := range 10 {
		next := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseSucceeded, IntentDigest: "d", Revision: int64(i + 1)}
		next.Transitions = Log(&s, &next, phasePath{}, now)
		s = next
	}
	if diff := cmp.Diff(projection.MaxTransitions, len(s.Transitions)); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
	if last := s.Transitions[projection.MaxTransitions-1]; last.To != v1alpha1.PhaseSucceeded || last.Revision != 10 {
		t.Errorf("Log(...): the newest one comes last, got %+v", last)
	}
}
