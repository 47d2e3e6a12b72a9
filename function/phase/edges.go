// Package phase projects what is known about a deployment into its status: phase, outcome, conditions and the log of
// transitions. It decides nothing: throw the status away, and it comes back the same.
package phase

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// maxTransitions is how many transitions a status remembers.
const maxTransitions = 20

// edges are the legal changes of a phase. A deployment starts again at Pending from anywhere.
func edges() map[v1alpha1.Phase][]v1alpha1.Phase {
	return map[v1alpha1.Phase][]v1alpha1.Phase{
		"":                        {v1alpha1.PhasePending},
		v1alpha1.PhasePending:     {v1alpha1.PhaseCompiling, v1alpha1.PhaseFailed},
		v1alpha1.PhaseCompiling:   {v1alpha1.PhaseRendering, v1alpha1.PhaseFailed},
		v1alpha1.PhaseRendering:   {v1alpha1.PhaseDelivering, v1alpha1.PhaseFailed},
		v1alpha1.PhaseDelivering:  {v1alpha1.PhaseValidating, v1alpha1.PhaseFailed},
		v1alpha1.PhaseValidating:  {v1alpha1.PhaseSucceeded, v1alpha1.PhaseFailed},
		v1alpha1.PhaseFailed:      {v1alpha1.PhaseRollingBack},
		v1alpha1.PhaseRollingBack: {v1alpha1.PhaseSucceeded, v1alpha1.PhaseFailed},
		v1alpha1.PhaseSucceeded:   {},
	}
}

// forward is the way of a deployment that goes well.
func forward() []v1alpha1.Phase {
	return []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering,
		v1alpha1.PhaseDelivering, v1alpha1.PhaseValidating, v1alpha1.PhaseSucceeded,
	}
}

// Legal is true for a change of the phase that may be written.
func Legal(from, to v1alpha1.Phase) bool {
	return to == v1alpha1.PhasePending || slices.Contains(edges()[from], to)
}

// route is the phases that lead to a phase, itself last. A failure leaves the way where it happened.
func route(to, failedIn v1alpha1.Phase) []v1alpha1.Phase {
	if to != v1alpha1.PhaseFailed {
		return forward()[:slices.Index(forward(), to)+1]
	}
	return append(forward()[:slices.Index(forward(), failedIn)+1], to)
}

// remaining is what is left of a route when it goes on from a phase, or the whole route when it starts again.
func remaining(from v1alpha1.Phase, route []v1alpha1.Phase, restart bool) []v1alpha1.Phase {
	if i := slices.Index(route, from); i >= 0 && !restart {
		return route[i+1:]
	}
	return route
}

// Log adds the phases that were gone through since the last status to its transitions. Each entry is a legal change.
func Log(last *v1alpha1.IntentDeploymentStatus, next *v1alpha1.IntentDeploymentStatus, failedIn v1alpha1.Phase, now metav1.Time) []v1alpha1.Transition {
	restart := last.IntentDigest != next.IntentDigest || last.Revision != next.Revision && last.Revision != 0
	log := slices.Clone(last.Transitions)
	from := last.Phase
	for _, to := range remaining(from, route(next.Phase, failedIn), restart) {
		log = append(log, v1alpha1.Transition{From: from, To: to, At: now, Revision: next.Revision})
		from = to
	}
	return log[max(0, len(log)-maxTransitions):]
}
