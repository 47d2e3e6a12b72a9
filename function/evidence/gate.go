package evidence

import (
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// IsGateOf is true for the Gate of the step of an order. A step that a user released since, and the verdict itself, change nothing about what the
// Gate measures.
func IsGateOf(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) bool {
	of := g.Spec.ForProvider.Order
	return of.Epoch == o.Epoch && of.Revision == o.Revision && of.Request == o.Request && of.Intent == o.Intent && of.Step == o.Step && of.Attempt == o.Attempt
}

// GateVerdict returns the verdict of a Gate on the step of an order. It is empty when there is none: the status is about another order or about an
// earlier generation, or the Gate has not come to its end.
func GateVerdict(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) rolloutv1alpha1.GateVerdict {
	at := g.Status.AtProvider
	if !IsGateOf(g, o) || at.Order == nil || !areAlike(*at.Order, g.Spec.ForProvider.Order) {
		return ""
	}
	passes := at.Verdict == rolloutv1alpha1.GatePassed
	if passes && hasReady(g, corev1.ConditionTrue) || !passes && hasReady(g, corev1.ConditionFalse) {
		return at.Verdict
	}
	return ""
}

// CurrentReady returns the Ready condition of the Gate of an order's step. It is empty when the condition is about another order or about an earlier
// generation.
func CurrentReady(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) xpv2.Condition {
	at := g.Status.AtProvider
	ready := g.GetCondition(xpv2.TypeReady)
	if !IsGateOf(g, o) || at.Order == nil || !areAlike(*at.Order, g.Spec.ForProvider.Order) || ready.ObservedGeneration != g.GetGeneration() {
		return xpv2.Condition{}
	}
	return ready
}

// GateFailure returns the rejection that follows from the verdict of a Gate on an order, or nil. It names the first check that did not pass.
func GateFailure(g *rolloutv1alpha1.Gate, o rolloutv1alpha1.Order) *ledger.Verdict {
	v := GateVerdict(g, o)
	if v == "" || v == rolloutv1alpha1.GatePassed {
		return nil
	}
	message := fmt.Sprintf("Gate %s: %s", g.GetName(), v)
	if c := worstCheck(g.Status.AtProvider.Checks); c != nil {
		message += ": " + describeCheck(*c)
	}
	return rollout.Rejection(rolloutv1alpha1.RejectedGateFailed, message)
}

// worstCheck returns the first check that was violated, or else the first one that did not pass.
func worstCheck(all []rolloutv1alpha1.CheckResult) *rolloutv1alpha1.CheckResult {
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

// describeCheck names a check, its value and its threshold.
func describeCheck(c rolloutv1alpha1.CheckResult) string {
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

// HasEnded is true for a check that has a result.
func HasEnded(c rolloutv1alpha1.CheckResult) bool {
	return c.Phase != rolloutv1alpha1.CheckPending && c.Phase != rolloutv1alpha1.CheckRunning && c.Phase != ""
}
