// Package phase projects the recorded and observed state of a deployment into its status: phase, outcome, conditions
// and the log of transitions. It decides nothing: a deleted status is computed again with the same content.
package phase

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// Edges are the legal changes of a phase. A deployment starts again at Pending from anywhere.
func Edges() map[v1alpha1.Phase][]v1alpha1.Phase { return phaseTable().Next }

// forwardPhases returns the phases of a deployment without a failure.
func forwardPhases() []v1alpha1.Phase {
	return []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering,
		v1alpha1.PhaseDelivering, v1alpha1.PhaseValidating, v1alpha1.PhaseSucceeded,
	}
}

// phaseTable has the phases of a deployment and their changes. Nothing writes into it.
var phaseTable = sync.OnceValue(func() projection.Table[v1alpha1.Phase] { //nolint:gochecknoglobals // It is made once: each call needs it several times.
	return projection.Table[v1alpha1.Phase]{Start: v1alpha1.PhasePending, Failed: v1alpha1.PhaseFailed, Next: v1alpha1.PhaseChanges()}
})

// A phasePath has the facts that select the transitions to the current phase.
type phasePath struct {
	// failedIn is the phase that a failure left. Empty where nothing failed.
	failedIn v1alpha1.Phase
	// isRolledBack is true for a revision that was rejected, and rolled back or tried to be.
	isRolledBack bool
	// rejected is the reason of the revision's rejection. Empty where it was not rejected, or where a problem is in the way.
	rejected string
	// target is the revision that a rollback goes to.
	target int64
	// epoch of the ledger that the revision belongs to. 0 without a revision.
	epoch int64
}

// newTransition returns a change of the phase on the way.
func (w phasePath) newTransition(source, target v1alpha1.Phase) v1alpha1.Transition {
	t := v1alpha1.Transition{From: source, To: target}
	if target == v1alpha1.PhaseSucceeded || target == v1alpha1.PhaseFailed {
		t.Epoch = w.epoch
	}
	if target == v1alpha1.PhaseFailed {
		t.Rejected = w.rejected
	}
	if target == v1alpha1.PhaseSucceeded && source == v1alpha1.PhaseRollingBack {
		t.Rejected, t.Restored = w.rejected, w.target
	}
	return t
}

// routeToPhase returns the phases that lead to a phase, itself last. A failure leaves the route where it happened.
func (w phasePath) routeToPhase(target v1alpha1.Phase) []v1alpha1.Phase {
	if !w.isRolledBack && target != v1alpha1.PhaseFailed {
		return forwardPhases()[:slices.Index(forwardPhases(), target)+1]
	}
	out := forwardPhases()[:slices.Index(forwardPhases(), w.failedIn)+1]
	out = append(out, v1alpha1.PhaseFailed)
	if !w.isRolledBack {
		return out
	}
	if out = append(out, v1alpha1.PhaseRollingBack); target == v1alpha1.PhaseRollingBack {
		return out
	}
	return append(out, target)
}

// lacksRejectionLog reports whether the last status is Failed, and its log does not say that the revision was rejected: it failed by a problem or a conflict, which
// hid the rejection or came before it. An older function, whose changes have no epoch, did not say why a revision was rejected: such a failure stays as it is.
func (w phasePath) lacksRejectionLog(last, next *v1alpha1.IntentDeploymentStatus) bool {
	if w.rejected == "" || last.Phase != v1alpha1.PhaseFailed || next.Phase != v1alpha1.PhaseFailed {
		return false
	}
	newest := v1alpha1.Transition{}
	if n := len(last.Transitions); n > 0 {
		newest = last.Transitions[n-1]
	}
	return newest.Rejected == "" && newest.Epoch == w.epoch || newest.Revision != next.Revision
}

// Log adds the phases that were gone through since the last status to its transitions. Each entry is a legal change. A revision that is rejected while the
// phase is Failed starts again at Pending, as one does whose failure has ended: the change to Failed that ends that way is the first one with the reason.
func Log(last *v1alpha1.IntentDeploymentStatus, next *v1alpha1.IntentDeploymentStatus, w phasePath, now metav1.Time) []v1alpha1.Transition {
	restart := last.IntentDigest != next.IntentDigest || last.Revision != next.Revision && last.Revision != 0 || w.lacksRejectionLog(last, next)
	through := phaseTable().Along(last.Phase, w.routeToPhase(next.Phase), restart)
	return projection.Log(last.Transitions, func(t v1alpha1.Transition) int64 { return t.Index }, last.Phase, through, func(index int64, source, target v1alpha1.Phase) v1alpha1.Transition {
		t := w.newTransition(source, target)
		t.Index, t.At, t.Revision = index, now, next.Revision
		return t
	})
}
