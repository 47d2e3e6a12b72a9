package phase

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// What is known of a Gate.
const (
	measuring    evidence = "Measuring"
	passed       evidence = "Passed"
	gateFailed   evidence = "Failed"
	gateTimedOut evidence = "TimedOut"
	staleGate    evidence = "StaleGate"
	otherGate    evidence = "OtherGate"
	secondGate   evidence = "SecondGate"
)

func allGates() []evidence {
	return []evidence{absent, measuring, passed, gateFailed, gateTimedOut, staleGate, otherGate, secondGate}
}

// gated is the Gate of an order with some evidence, or nil.
func gated(o rolloutv1alpha1.Order, e evidence) *rolloutv1alpha1.Gate {
	if e == absent {
		return nil
	}
	g := &rolloutv1alpha1.Gate{}
	g.SetGeneration(1)
	g.Spec.ForProvider.Order = o.Unjudged()
	switch e {
	case otherGate:
		g.Spec.ForProvider.Order.Revision--
	case secondGate:
		g.Spec.ForProvider.Order.Step++
	}
	at := &g.Status.AtProvider
	at.Order, at.StartedAt = g.Spec.ForProvider.Order.DeepCopy(), &now
	ready := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionTrue, Reason: "Passed", ObservedGeneration: 1}
	at.Verdict = rolloutv1alpha1.GatePassed
	switch e {
	case measuring:
		at.Verdict, ready.Status = "", corev1.ConditionFalse
	case gateFailed:
		at.Verdict, ready.Status = rolloutv1alpha1.GateFailed, corev1.ConditionFalse
	case gateTimedOut:
		at.Verdict, ready.Status = rolloutv1alpha1.GateTimedOut, corev1.ConditionFalse
	case staleGate:
		ready.ObservedGeneration = 0
	}
	g.Status.SetConditions(ready, xpv2.ReconcileSuccess())
	return g
}

// judgedBy calls with all combinations of what is known of two deliveries, and of the Gate of their order.
func judgedBy(do func(f *Facts, a, b, gate evidence)) int {
	n := 0
	for _, a := range allEvidence() {
		for _, b := range allEvidence() {
			for _, gate := range allGates() {
				for flags := range 8 {
					f := &Facts{Digest: "d", Suspended: flags&1 != 0, Outranked: flags&2 != 0, Gates: map[string]*rolloutv1alpha1.Gate{}}
					place(f, true, deliveryv1alpha1.ActionDesired, a, b)
					f.Order.Verdict, f.Order.Plan, f.Order.Steps = nil, []rolloutv1alpha1.Step{{Sites: []string{"a", "b"}, Gate: new(true)}}, 1
					if flags&4 != 0 {
						f.Problem = &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Words.", Terminal: true, Phase: v1alpha1.PhaseCompiling}
					}
					ask(f)
					if g := gated(*f.Order, gate); g != nil {
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

// ask deliveries for the order, but those that were asked for another one.
func ask(f *Facts) {
	for name, d := range f.Desired {
		d.Spec.ForProvider.Order = *f.Order
		if d := f.Observed[name]; d != nil && d.Spec.ForProvider.Order.Revision == f.Order.Revision {
			d.Spec.ForProvider.Order = *f.Order
			if d.Status.AtProvider.Order != nil {
				d.Status.AtProvider.Order = f.Order.DeepCopy()
			}
		}
	}
}

// TestGates holds for all combinations of what is known of an order, and of its Gate: nothing but the Gate of its own step lets it pass.
func TestGates(t *testing.T) {
	verdicts := map[string]int{}
	n := judgedBy(func(f *Facts, a, b, gate evidence) {
		p := f.Proof()
		live := (a == done || a == unrecorded) && (b == done || b == unrecorded)
		if p.Live != live || p.Passed != (gate == passed) {
			t.Fatalf("Proof(): %s %s %s: want live %t, got %+v", a, b, gate, live, p)
		}
		said := "none"
		if o := rollout.Judge(*f.Order, p); o.Verdict != nil {
			said = string(o.Verdict.Result)
		}
		bad := a == refused || b == refused || gate == gateFailed || gate == gateTimedOut
		want := "none"
		if live && gate == passed {
			want = "Verified"
		}
		if bad {
			want = "Rejected"
		}
		if verdicts[said]++; said != want {
			t.Fatalf("Judge(...): %s %s %s: want %s, got %s", a, b, gate, want, said)
		}
		phase, _, _ := phaseOf(f)
		waits := v1alpha1.PhaseDelivering
		// There is no Gate before the step was live.
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
	t.Logf("%d combinations of what is known of an order and its Gate came to verdicts %v", n, verdicts)
}
