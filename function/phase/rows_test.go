package phase

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// TestEdges compares the table of changes with the design.
func TestEdges(t *testing.T) {
	want := map[v1alpha1.Phase][]v1alpha1.Phase{
		"":            {"Pending"},
		"Pending":     {"Compiling", "Failed"},
		"Compiling":   {"Rendering", "Failed"},
		"Rendering":   {"Delivering", "Failed"},
		"Delivering":  {"Validating", "Failed"},
		"Validating":  {"Succeeded", "Failed"},
		"Failed":      {"RollingBack"},
		"RollingBack": {"Succeeded", "Failed"},
		"Succeeded":   {},
	}
	if diff := cmp.Diff(want, Edges()); diff != "" {
		t.Errorf("Edges(): -want, +got:\n%s", diff)
	}
}

// retreatings calls with all combinations of the states of a rejected revision, and returns their number.
func retreatings(do func(*Input)) int {
	n := 0
	stops := []step.Hold{
		step.HoldNone, step.HoldRollbackOff, step.HoldNotRecorded, step.HoldNoTarget, step.HoldNothingToRestore, step.HoldIrreversible,
		step.HoldTooManyRollbacks, step.HoldAttemptsSpent,
	}
	reasons := []string{rolloutv1alpha1.RejectedDeliveryRefused, rolloutv1alpha1.RejectedGateFailed}
	for _, stop := range stops {
		for _, reason := range reasons {
			for flags := range 64 {
				for _, a := range allDeliveryStates() {
					for _, b := range allDeliveryStates() {
						do(retreating(stop, reason, flags, a, b))
						n++
					}
				}
			}
		}
	}
	return n
}

func retreating(stop step.Hold, reason string, flags int, a, b deliveryState) *Input {
	f := &Input{Digest: "d", Decision: Decision{Holds: step.Holds{Start: startHolds()[flags&1], Progress: stop}}}
	place(f, true, deliveryv1alpha1.ActionRestore, a, b)
	f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason, Message: "Words."}
	if flags&2 != 0 {
		f.State.Cursor.Attempt, f.State.Target = 1, 1
		f.State.History = []ledger.Past{{Number: 1, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}}}
	}
	if flags&4 != 0 { // Without an attempt it is forged.
		f.State.Restored = true
	}
	if flags&8 != 0 {
		f.Problem = &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Words.", Terminal: true, Phase: v1alpha1.PhaseCompiling}
	}
	if flags&16 != 0 {
		f.Unobserved = map[string]bool{"a": false, "b": true}
	}
	follow(f, flags&32 != 0)
	return f
}

// follow makes deliveries request the rejected revision. If it is recorded, deliveries that reached their desired state report it too.
func follow(f *Input, recorded bool) {
	for name, d := range f.Desired {
		d.Spec.ForProvider.Position = new(f.State.Position())
		if d := f.Observed[name]; d != nil && d.Spec.ForProvider.Position.Revision == f.State.Current.Number {
			d.Spec.ForProvider.Position = new(f.State.Position())
			if d.Status.AtProvider.Record != nil && recorded {
				d.Status.AtProvider.Record.Position = f.State.Position()
			}
		}
	}
	f.State.Head, f.Recorded.Head = ledger.Head{}, ledger.Head{}
	if !recorded {
		unrecorded(f)
	}
}

// rowOf is the phase and outcome of the row that holds for a rejected revision.
func rowOf(f *Input) []string {
	hold := f.Holds.Progress
	isStop := hold != step.HoldNone && hold != step.HoldNotRecorded
	switch s := f.State; {
	case f.Problem != nil:
		return []string{"Failed", "Failed"}
	case s.Restored && f.IsRecorded():
		return []string{"Succeeded", "RolledBack"}
	case !s.Restored && (s.Cursor.Attempt == 0 || isStop):
		return []string{"Failed", "Failed"}
	}
	return []string{"RollingBack", ""}
}

// needsUser is true for a rejected revision that came to its end in a phase. A repository that has yet to report does so by itself.
func needsUser(f *Input, p v1alpha1.Phase) bool {
	return p == v1alpha1.PhaseSucceeded || p == v1alpha1.PhaseFailed && f.Holds.Progress != step.HoldNotRecorded
}

// TestRetreats checks all combinations of the states of a rejected revision.
func TestRetreats(t *testing.T) {
	visited := map[string]bool{}
	n := retreatings(func(f *Input) {
		p, outcome, message := projectPhase(f)
		got := []string{string(p), string(outcome)}
		if !slices.Equal(rowOf(f), got) || message == "" {
			t.Fatalf("phaseOf(...): want %v, got %v %q for %+v", rowOf(f), got, message, f.State)
		}
		conditions := Conditions(f)
		statuses := map[string]corev1.ConditionStatus{}
		for _, c := range conditions {
			statuses[c.Type] = c.Status
			if c.Reason == "" || clockwork.MatchString(c.Message) {
				t.Fatalf("Conditions(...): %+v", c)
			}
		}
		switch {
		case Ready(f):
			t.Fatalf("Ready(...): a rejected revision is ready: %+v", f.State)
		case statuses[v1alpha1.TypeStalled] == corev1.ConditionTrue && statuses[v1alpha1.TypeReconciling] == corev1.ConditionTrue:
			t.Fatalf("Conditions(...): both Stalled and Reconciling: %+v", conditions)
		case f.Problem == nil && needsUser(f, p) != (statuses[v1alpha1.TypeStalled] == corev1.ConditionTrue) && len(f.UnprovenSites()) == 0:
			t.Fatalf("Conditions(...): phase %s, and Stalled is %s", p, statuses[v1alpha1.TypeStalled])
		case f.Problem == nil && (p == v1alpha1.PhaseSucceeded) != (statuses[v1alpha1.TypeRolledBack] == corev1.ConditionTrue):
			t.Fatalf("Conditions(...): phase %s, and RolledBack is %s", p, statuses[v1alpha1.TypeRolledBack])
		}
		if key := fmt.Sprint(p, phasePathOf(f)); !visited[key] {
			visited[key] = true
			for _, last := range append(lasts(), v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseRollingBack, IntentDigest: "d", Revision: 2}) {
				checkTransitions(t, &last, Status(f, &last, now))
			}
		}
	})
	t.Logf("%d combinations of states of a rejected revision, and %d routes to its phase", n, len(visited))
}
