package rollout

import (
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Gated is true for an order whose step is judged by a Gate. The way back has none.
func Gated(o rolloutv1alpha1.Order) bool {
	if o.Attempt > 0 || int(o.Step) >= len(o.Plan) {
		return false
	}
	g := o.Plan[o.Step].Gate
	return g != nil && *g
}

// Judges is true for a Gate that judges the step of an order, and was never asked about another one. What a person released since, and
// the verdict itself, change nothing about what is judged.
func Judges(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) bool {
	of := g.Spec.ForProvider.Order
	return of.Revision == o.Revision && of.Request == o.Request && of.Step == o.Step && of.Attempt == o.Attempt
}

// Judged is the verdict of a Gate on the step of an order, or empty when there is none: it speaks of another order, of an earlier
// generation, or did not come to its end.
func Judged(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) rolloutv1alpha1.GateVerdict {
	at := g.Status.AtProvider
	if !Judges(g, o) || at.Order == nil || !Alike(*at.Order, g.Spec.ForProvider.Order) {
		return ""
	}
	passes := at.Verdict == rolloutv1alpha1.GatePassed
	if passes && says(g, corev1.ConditionTrue) || !passes && says(g, corev1.ConditionFalse) {
		return at.Verdict
	}
	return ""
}

// CurrentReady returns the Ready condition of a Gate that judges the step of an order. It is empty when the condition speaks of another order
// or of an earlier generation.
func CurrentReady(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) xpv2.Condition {
	at := g.Status.AtProvider
	ready := g.GetCondition(xpv2.TypeReady)
	if !Judges(g, o) || at.Order == nil || !Alike(*at.Order, g.Spec.ForProvider.Order) || ready.ObservedGeneration != g.GetGeneration() {
		return xpv2.Condition{}
	}
	return ready
}

// NotPassed is the rejection that follows from what a Gate says of an order, or nil. It names the first check that did not pass.
func NotPassed(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) *rolloutv1alpha1.Verdict {
	v := Judged(g, o)
	if v == "" || v == rolloutv1alpha1.GatePassed {
		return nil
	}
	message := fmt.Sprintf("Gate %s: %s", g.GetName(), v)
	if c := worst(g.Status.AtProvider.Checks); c != nil {
		message += ": " + said(*c)
	}
	return rejection(rolloutv1alpha1.RejectedGateFailed, message)
}

// worst is the first check that was violated, or else the first one that did not pass.
func worst(all []rolloutv1alpha1.CheckResult) *rolloutv1alpha1.CheckResult {
	var out *rolloutv1alpha1.CheckResult
	for i, c := range all {
		switch c.Phase {
		case rolloutv1alpha1.CheckFailed:
			return &all[i]
		case rolloutv1alpha1.CheckError, rolloutv1alpha1.CheckTimedOut:
			if out == nil {
				out = &all[i]
			}
		case rolloutv1alpha1.CheckPending, rolloutv1alpha1.CheckRunning, rolloutv1alpha1.CheckPassed:
		}
	}
	return out
}

// said names a check, its value and its threshold.
func said(c rolloutv1alpha1.CheckResult) string {
	parts := []string{fmt.Sprintf("check %s at Site %s: %s", c.Name, c.Site, c.Phase)}
	if c.Value != "" {
		parts = append(parts, "value "+c.Value)
	}
	if c.Threshold != "" {
		parts = append(parts, "threshold "+c.Threshold)
	}
	out := strings.Join(parts, ", ")
	if c.Message != "" {
		out += ": " + c.Message
	}
	return out
}

// Ended is true for a check that was judged.
func Ended(c rolloutv1alpha1.CheckResult) bool {
	return c.Phase != rolloutv1alpha1.CheckPending && c.Phase != rolloutv1alpha1.CheckRunning && c.Phase != ""
}
