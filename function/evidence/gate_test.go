package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func gatedOrder() rolloutv1alpha1.Order {
	return changedOrder(newOrder(2, "b"), func(o *rolloutv1alpha1.Order) {
		o.Steps, o.Plan = 2, []rolloutv1alpha1.Step{{Sites: []string{"a"}, Gate: new(true)}, {Sites: []string{"b"}}}
	})
}

// judging is a Gate that came to a verdict.
func newGate(o rolloutv1alpha1.Order, v rolloutv1alpha1.GateVerdict) *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{}
	g.SetName("g")
	g.SetGeneration(4)
	g.Spec.ForProvider.Order = o
	g.Spec.ForProvider.Checks = []rolloutv1alpha1.GateCheck{{Check: deploymentv1alpha1.Check{Name: "latency", Site: "a"}}}
	g.Status.AtProvider = rolloutv1alpha1.GateObservation{Order: o.DeepCopy(), Verdict: v, Checks: []rolloutv1alpha1.CheckResult{
		{Name: "errors", Site: "a", Phase: rolloutv1alpha1.CheckTimedOut},
		{Name: "latency", Site: "a", Phase: rolloutv1alpha1.CheckFailed, Value: "900ms", Threshold: "<= 500ms", Message: "Two\nlines."},
	}}
	status, reason := corev1.ConditionFalse, xpv2.ConditionReason(v)
	if v == rolloutv1alpha1.GatePassed {
		status = corev1.ConditionTrue
	}
	g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, ObservedGeneration: 4}, xpv2.ReconcileSuccess())
	return g
}

func TestJudged(t *testing.T) {
	o := gatedOrder()
	cases := map[string]struct {
		reason  string
		verdict rolloutv1alpha1.GateVerdict
		change  func(*rolloutv1alpha1.Gate)
		want    rolloutv1alpha1.GateVerdict
	}{
		"Passed":     {reason: "It passed.", verdict: rolloutv1alpha1.GatePassed, want: rolloutv1alpha1.GatePassed},
		"Failed":     {reason: "It did not.", verdict: rolloutv1alpha1.GateFailed, want: rolloutv1alpha1.GateFailed},
		"Measuring":  {reason: "It came to no end."},
		"Step":       {reason: "It judges another step.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Step = 1 }},
		"Revision":   {reason: "It judges another revision.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Revision = 1 }},
		"Request":    {reason: "It judges another request.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Request = "a" }},
		"Attempt":    {reason: "It judges another attempt.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Attempt = 1 }},
		"Speaks":     {reason: "What was measured is about another order.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Order.Revision = 1 }},
		"Silent":     {reason: "Nothing was measured.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Order = nil }},
		"Generation": {reason: "It was changed since.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.SetGeneration(5) }},
		"Unready": {
			reason: "It passed, and is not Ready.", verdict: rolloutv1alpha1.GatePassed,
			change: func(g *rolloutv1alpha1.Gate) { g.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) },
		},
		"Promoted": {
			reason: "A person released a step since.", verdict: rolloutv1alpha1.GatePassed, want: rolloutv1alpha1.GatePassed,
			change: func(g *rolloutv1alpha1.Gate) {
				g.Spec.ForProvider.Order.Promoted, g.Status.AtProvider.Order.Promoted = 1, 1
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGate(o, tc.verdict)
			if tc.change != nil {
				tc.change(g)
			}
			if diff := cmp.Diff(tc.want, GateVerdict(g, o)); diff != "" {
				t.Errorf("\n%s\nJudged(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNotPassed(t *testing.T) {
	o := gatedOrder()
	if v := GateFailure(newGate(o, rolloutv1alpha1.GatePassed), o); v != nil {
		t.Errorf("GateFailure(...): what passed is no rejection: %+v", v)
	}
	want := &rolloutv1alpha1.Verdict{
		Result: "Rejected", Reason: "GateFailed",
		Message: "Gate g: Failed: check latency at Site a: Failed, value 900ms, threshold <= 500ms: Two lines.",
	}
	if diff := cmp.Diff(want, GateFailure(newGate(o, rolloutv1alpha1.GateFailed), o)); diff != "" {
		t.Errorf("GateFailure(...): it names the check, the value and the threshold, in one line: -want, +got:\n%s", diff)
	}
}
