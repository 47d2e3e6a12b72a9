package phase

import (
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

// States of a Gate.
const (
	measuring    deliveryState = "Measuring"
	passed       deliveryState = "Passed"
	gateFailed   deliveryState = "Failed"
	gateTimedOut deliveryState = "TimedOut"
	staleGate    deliveryState = "StaleGate"
	otherGate    deliveryState = "OtherGate"
	secondGate   deliveryState = "SecondGate"
	unavailable  deliveryState = "MetricsUnavailable"
	heldGate     deliveryState = "Held"
	staleHeld    deliveryState = "StaleHeld"
	withoutData  deliveryState = "NoData"
)

func allGates() []deliveryState {
	return []deliveryState{absent, measuring, passed, gateFailed, gateTimedOut, staleGate, otherGate, secondGate, unavailable, heldGate, staleHeld, withoutData}
}

// gated is the Gate of a revision with some deliveryState, or nil.
func gated(s ledger.State, e deliveryState) *rolloutv1alpha1.Gate {
	if e == absent {
		return nil
	}
	g := &rolloutv1alpha1.Gate{}
	g.SetGeneration(1)
	g.SetAnnotations(map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s)})
	g.Spec.ForProvider.Position = new(s.Position())
	switch e {
	case otherGate:
		g.Spec.ForProvider.Position.Revision--
	case secondGate:
		g.Spec.ForProvider.Position.Step++
	}
	position := &g.Status.AtProvider
	position.Position, position.StartedAt = new(*g.Spec.ForProvider.Position), &now
	ready := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionTrue, Reason: "Passed", ObservedGeneration: 1}
	position.Verdict = rolloutv1alpha1.GatePassed
	switch e {
	case measuring:
		position.Verdict, ready.Status, ready.Reason = "", corev1.ConditionFalse, rolloutv1alpha1.ReasonMeasuring
	case unavailable, heldGate, withoutData:
		position.Verdict, ready.Status, ready.Reason, ready.Message = "", corev1.ConditionFalse, xpv2.ConditionReason(e), "the server does not answer"
	case staleHeld:
		position.Verdict, ready.Status, ready.Reason, ready.ObservedGeneration = "", corev1.ConditionFalse, rolloutv1alpha1.ReasonHeld, 0
	case gateFailed:
		position.Verdict, ready.Status = rolloutv1alpha1.GateFailed, corev1.ConditionFalse
	case gateTimedOut:
		position.Verdict, ready.Status = rolloutv1alpha1.GateTimedOut, corev1.ConditionFalse
	case staleGate:
		ready.ObservedGeneration = 0
	}
	g.Status.SetConditions(ready, xpv2.ReconcileSuccess())
	return g
}

// judgedBy calls with all combinations of the states of two deliveries, and of the Gate of their revision.
func judgedBy(do func(f *Input, a, b, gate deliveryState)) int {
	n := 0
	for _, a := range allDeliveryStates() {
		for _, b := range allDeliveryStates() {
			for _, gate := range allGates() {
				for flags := range 8 {
					f := &Input{Digest: "d", Decision: Decision{Holds: step.Holds{Start: startHolds()[flags&3]}}, Comparison: evidence.Comparison{Gates: map[string]*rolloutv1alpha1.Gate{}}}
					place(f, true, deliveryv1alpha1.ActionDesired, a, b)
					f.State.Verdict, f.State.Current.Plan = nil, []ledger.Step{{Sites: []string{"a", "b"}, Gate: true}}
					if flags&4 != 0 {
						f.Problem = &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Words.", Terminal: true, Phase: v1alpha1.PhaseCompiling}
					}
					follow(f, true)
					if g := gated(f.State, gate); g != nil {
						f.Gates["gate"] = g
					}
					do(f, a, b, gate)
					n++
				}
			}
		}
	}
	return n
}

// TestGates checks all combinations of the states of a revision and of its Gate: only the Gate of its own step lets it pass.
func TestGates(t *testing.T) {
	verdicts := map[string]int{}
	n := judgedBy(func(f *Input, a, b, gate deliveryState) {
		p := f.Proof()
		live := a == done && b == done
		if p.IsLive != live || p.HasPassed != (gate == passed) {
			t.Fatalf("Proof(): %s %s %s: want live %t, got %+v", a, b, gate, live, p)
		}
		result := "none"
		switch {
		case p.Failure != nil:
			result = string(p.Failure.Result)
		case p.IsLive && p.HasPassed:
			result = "Verified"
		}
		bad := a == refused || b == refused || gate == gateFailed || gate == gateTimedOut
		want := "none"
		if live && gate == passed {
			want = "Verified"
		}
		if bad {
			want = "Rejected"
		}
		if verdicts[result]++; result != want {
			t.Fatalf("Proof(): %s %s %s: want %s, got %s", a, b, gate, want, result)
		}
		phase, _, _ := projectPhase(f)
		waits := v1alpha1.PhaseDelivering
		// A Gate exists only after the step was live.
		if live || gate != absent && gate != otherGate && gate != secondGate {
			waits = v1alpha1.PhaseValidating
		}
		if f.Problem != nil {
			waits = v1alpha1.PhaseFailed
		}
		if phase != waits || Ready(f) {
			t.Fatalf("phaseOf(...): %s %s %s: want %s, got %s, ready %t", a, b, gate, waits, phase, Ready(f))
		}
	})
	t.Logf("%d combinations of states of a revision and its Gate came to verdicts %v", n, verdicts)
}

// TestFailedResultsFirst lets a Gate have one more result than a status shows, of which the last check failed.
func TestFailedResultsFirst(t *testing.T) {
	f := &Input{Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(2)}}}
	g := gated(f.State, gateFailed)
	for i := range maxResults + 1 {
		phase := rolloutv1alpha1.CheckPassed
		if i == maxResults {
			phase = rolloutv1alpha1.CheckFailed
		}
		g.Status.AtProvider.Checks = append(g.Status.AtProvider.Checks, rolloutv1alpha1.CheckResult{Name: fmt.Sprint(i), Phase: phase})
	}
	f.Gates = map[string]*rolloutv1alpha1.Gate{"gate": g}
	got := validationResults(f)
	if len(got) != maxResults || got[0].Name != fmt.Sprint(maxResults) || got[1].Name != "0" {
		t.Errorf("\nIf not all results fit, failed checks come first, and the others stay in their order.\nvalidationResults(...): want %d from check %d and 0 on, got %d from %s and %s on",
			maxResults, maxResults, len(got), got[0].Name, got[1].Name)
	}
}

// TestMetricsUnavailable checks all combinations of the states of a revision and of its Gate: neither an outage of the metrics backend nor a
// lack of data is a verdict, and the deployment names the condition that it waits for.
func TestMetricsUnavailable(t *testing.T) {
	visited := map[deliveryState]int{}
	judgedBy(func(f *Input, a, b, gate deliveryState) {
		if f.Problem != nil || a == refused || b == refused || !f.IsApplied() {
			return
		}
		visited[gate]++
		validated, stalled := validatedCondition(f), stalledCondition(f)
		wantReason, wantStalled := v1alpha1.ReasonMeasuring, corev1.ConditionFalse
		switch gate {
		case unavailable:
			wantReason = v1alpha1.ReasonMetricsUnavailable
		case heldGate:
			wantReason, wantStalled = v1alpha1.ReasonMetricsUnavailable, corev1.ConditionTrue
		case withoutData:
			wantReason = v1alpha1.ReasonNoData
		}
		if validated.Status != corev1.ConditionUnknown || validated.Reason != wantReason {
			t.Fatalf("validated(...): %s %s %s: want Unknown with %s, got %+v", a, b, gate, wantReason, validated)
		}
		if len(f.UnprovenSites()) == 0 && stalled.Status != wantStalled {
			t.Fatalf("stalled(...): %s %s %s: want %s, got %+v", a, b, gate, wantStalled, stalled)
		}
		_, _, message := projectPhase(f)
		if isReported := strings.Contains(message, "the server does not answer."); isReported != (f.RunsEverywhere() && wantReason != v1alpha1.ReasonMeasuring) {
			t.Fatalf("phaseOf(...): %s %s %s: the deployment says %q", a, b, gate, message)
		}
		if p := f.Proof(); p.Failure != nil && gate != gateFailed && gate != gateTimedOut {
			t.Fatalf("Proof(): %s %s %s: an outage is a failure: %+v", a, b, gate, p)
		}
	})
	if visited[withoutData] == 0 || visited[unavailable] == 0 || visited[heldGate] == 0 || visited[staleHeld] == 0 {
		t.Errorf("not every Gate was tried: %v", visited)
	}
}

// TestNothingMeasured distinguishes gates that are switched off from gates without a measurement.
func TestNothingMeasured(t *testing.T) {
	cases := map[string]struct {
		reason   string
		disabled bool
		want     Condition
	}{
		"Off": {
			reason:   "Gates that the spec switches off are called so.",
			disabled: true, want: projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonGatesOff, "Nothing is measured: spec.gatesConfig.enabled is false."),
		},
		"Nothing": {
			reason: "Gates that are enabled and have neither thresholds nor checks are called so.",
			want:   projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonNoGates, "Nothing is measured: spec.gatesConfig has no thresholds and no checks."),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Digest: "d", GatesDisabled: tc.disabled}
			place(f, true, deliveryv1alpha1.ActionDesired, done, done)
			follow(f, true)
			if diff := cmp.Diff(tc.want, validatedCondition(f)); diff != "" {
				t.Errorf("\n%s\nvalidated(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestValidatedOfEarlierRevision has a problem in the way of the current spec, after a revision without gates succeeded.
func TestValidatedOfEarlierRevision(t *testing.T) {
	f := &Input{Digest: "d", Compilation: Compilation{Problem: &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "spec.intent: is no intent", Terminal: true}}}
	place(f, true, deliveryv1alpha1.ActionDesired, done, done)
	follow(f, true)
	want := projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonNoGates,
		"This is about revision 2, which was ordered before InvalidIntent. Nothing is measured: spec.gatesConfig has no thresholds and no checks.")
	if diff := cmp.Diff(want, validatedCondition(f)); diff != "" {
		t.Errorf("validated(...): -want, +got:\n%s", diff)
	}
}

// TestRunBy has Sites with and without an engine that reports their running tree.
func TestRunBy(t *testing.T) {
	cases := map[string]struct {
		reason     string
		change     func(f *Input)
		want, step string
	}{
		"Observed": {
			reason: "Sites with an engine are known to run the revision.", change: func(*Input) {},
			want: "Every Site runs the revision", step: "Every Site of the step runs the revision",
		},
		"Unobserved": {
			reason: "Without any engine the revision is known to be delivered, and no more.", change: func(f *Input) { f.Sync = nil },
			want: "The revision is delivered to every Site, where no engine reports the running tree",
			step: "The revision is delivered to every Site of the step, where no engine reports the running tree",
		},
		"Mixed": {
			reason: "A Site without an engine has another message than a Site with an engine.",
			change: func(f *Input) { f.Unobserved = map[string]bool{f.Trees()[0].Site: true} },
			want:   "Every Site that is observed runs the revision, which is delivered to the others",
			step:   "Every Site of the step that is observed runs the revision, which is delivered to the others",
		},
		"Elsewhere": {
			reason: "A Site without an engine that the revision does not go to changes nothing.",
			change: func(f *Input) { f.Unobserved = map[string]bool{"elsewhere": true} },
			want:   "Every Site runs the revision", step: "Every Site of the step runs the revision",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Digest: "d"}
			place(f, true, deliveryv1alpha1.ActionDesired, done, done)
			follow(f, true)
			f.Sync, f.Unobserved = &deliveryv1alpha1.SiteSync{}, map[string]bool{}
			tc.change(f)
			if diff := cmp.Diff([]string{tc.want, tc.step}, []string{f.runsAtMessage("every Site"), f.runsAtMessage("every Site of the step")}); diff != "" {
				t.Errorf("%s\nrunBy(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsHeldByMetrics looks at a Gate that waited for the metrics backend for too long.
func TestIsHeldByMetrics(t *testing.T) {
	cases := map[string]struct {
		reason  string
		gate    deliveryState
		verdict *ledger.Verdict
		want    bool
	}{
		"Held":      {reason: "A Gate that is held waits for a user.", gate: heldGate, want: true},
		"Measuring": {reason: "A Gate that measures waits for nothing.", gate: measuring},
		"None":      {reason: "A revision without a Gate waits for none.", gate: absent},
		"Judged":    {reason: "After the verdict no Gate is waited for.", gate: heldGate, verdict: verdicts()[1]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := inJudgement(nil, true, true, live)
			f.Gates = map[string]*rolloutv1alpha1.Gate{}
			if g := gated(f.State, tc.gate); g != nil {
				f.Gates["gate"] = g
			}
			f.State.Verdict = tc.verdict
			if got := f.isHeldByMetrics(); got != tc.want {
				t.Errorf("\n%s\nisHeldByMetrics(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
