package gate

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/verdict"
	"github.com/intentplane/intentplane/provider/instant"
)

// deferPeriod is how long checks that passed, or have their count, are kept back while others go on. Each change of the status costs the composite, and Sites that went
// live one after another come to their verdicts one after another.
const deferPeriod = 10 * time.Second

// updateStatus writes a decision into the status: at once, unless all that is new is that some checks passed, and others go on, or that all have their
// count while the step pauses for a moment only. A Gate whose step has not come has no status.
func (e *external) updateStatus(g *v1alpha1.Gate, f verdict.Facts, d verdict.Decision) {
	ready := readyCondition(g, d)
	e.memory.recordObservation(g, d.Next)
	if g.GetCondition(xpv2.TypeReady).Reason == "" && f.Spec.Until == v1alpha1.GateUntilReleased && d.Reason == v1alpha1.ReasonNotLive {
		return
	}
	written := ready
	if d.Reason == v1alpha1.ReasonWatching && isReleasedSoon(f) {
		written = g.GetCondition(xpv2.TypeReady)
	}
	if due := e.memory.deferStatusUntil(g, onlyChecksPassed(g, d, written), e.now()); e.now().Before(due) {
		e.memory.planNextLook(g, instant.Earliest(e.memory.nextReconcileTime(g), due))
		return
	}
	g.Status.AtProvider = d.Next
	g.SetConditions(ready)
}

// isReleasedSoon is true where the pause of the judged step ends before a deferred status of the Gate would be written on its own.
func isReleasedSoon(f verdict.Facts) bool {
	return !f.PauseEnd.IsZero() && f.PauseEnd.Before(f.Now.Add(deferPeriod))
}

// onlyChecksPassed is true if the decision differs from the status only by additional passed checks.
func onlyChecksPassed(g *v1alpha1.Gate, d verdict.Decision, ready xpv2.Condition) bool {
	previous, next := g.Status.AtProvider, *d.Next.DeepCopy()
	if len(previous.Checks) != len(next.Checks) || !g.GetCondition(xpv2.TypeReady).Equal(ready) {
		return false
	}
	passed := false
	for i, c := range next.Checks {
		hasCount := c.CountedAt != nil && previous.Checks[i].CountedAt == nil && c.Phase == v1alpha1.CheckRunning
		if hasCount || c.Phase == v1alpha1.CheckPassed && previous.Checks[i].Phase == v1alpha1.CheckRunning {
			next.Checks[i], passed = previous.Checks[i], true
		}
	}
	return passed && equality.Semantic.DeepEqual(previous, next)
}
