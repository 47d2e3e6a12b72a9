package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
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

func TestGateVerdict(t *testing.T) {
	o := gatedOrder()
	cases := map[string]struct {
		reason  string
		verdict rolloutv1alpha1.GateVerdict
		change  func(*rolloutv1alpha1.Gate)
		want    rolloutv1alpha1.GateVerdict
	}{
		"Passed":     {reason: "A Gate that passed says so.", verdict: rolloutv1alpha1.GatePassed, want: rolloutv1alpha1.GatePassed},
		"Failed":     {reason: "A Gate that failed says so.", verdict: rolloutv1alpha1.GateFailed, want: rolloutv1alpha1.GateFailed},
		"Measuring":  {reason: "A Gate that still measures has no verdict."},
		"Step":       {reason: "A Gate of another step has no verdict on this one.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Step = 1 }},
		"Revision":   {reason: "A Gate of another revision has no verdict on this one.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Revision = 1 }},
		"Request":    {reason: "A Gate of another request has no verdict on this one.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Request = "a" }},
		"Attempt":    {reason: "A Gate of another attempt has no verdict on this one.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.Order.Attempt = 1 }},
		"Speaks":     {reason: "Measurements of another order are no verdict.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Order.Revision = 1 }},
		"Silent":     {reason: "A Gate without measurements has no verdict.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Order = nil }},
		"Generation": {reason: "A Gate whose spec changed since has no verdict.", verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.SetGeneration(5) }},
		"Unready": {
			reason: "A Gate that passed and is not Ready has no verdict.", verdict: rolloutv1alpha1.GatePassed,
			change: func(g *rolloutv1alpha1.Gate) { g.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) },
		},
		"Promoted": {
			reason: "A step that a user released since leaves the verdict as it is.", verdict: rolloutv1alpha1.GatePassed, want: rolloutv1alpha1.GatePassed,
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

func TestGateFailure(t *testing.T) {
	o := gatedOrder()
	if v := GateFailure(newGate(o, rolloutv1alpha1.GatePassed), o); v != nil {
		t.Errorf("GateFailure(...): what passed is no rejection: %+v", v)
	}
	want := &ledger.Verdict{
		Result: "Rejected", Reason: "GateFailed",
		Message: "Gate g: Failed: check latency at Site a: Failed, value 900ms, threshold <= 500ms: Two lines.",
	}
	if diff := cmp.Diff(want, GateFailure(newGate(o, rolloutv1alpha1.GateFailed), o)); diff != "" {
		t.Errorf("GateFailure(...): it names the check, the value and the threshold, in one line: -want, +got:\n%s", diff)
	}
}
