package telemetry

import (
	"time"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// Bundles are the metrics of Bundles.
type Bundles struct{ m *Metrics }

// Bundles are the same metrics of Bundles.
func (m *Metrics) Bundles() Bundles { return Bundles{m} }

// Transition counts a change of the phase of a Bundle.
func (b Bundles) Transition(source, target string) {
	b.m.bundleTransitions.WithLabelValues(phaseLabel(source, bundlePhases()), phaseLabel(target, bundlePhases())).Inc()
}

// PhaseTook notes how long a Bundle was in a phase.
func (b Bundles) PhaseTook(p string, took time.Duration) {
	b.m.bundlePhases.WithLabelValues(phaseLabel(p, bundlePhases())).Observe(took.Seconds())
}

// Current adds delta, which may be negative, to the number of Bundles that are in a phase. They have no outcome.
func (b Bundles) Current(p, _ string, delta int) {
	b.m.bundleCurrent.WithLabelValues(phaseLabel(p, bundlePhases())).Add(float64(delta))
}

func bundlePhases() []string {
	return convertToStrings(bundlev1alpha1.PhasePending, bundlev1alpha1.PhaseDeploying, bundlev1alpha1.PhaseSucceeded, bundlev1alpha1.PhaseDegraded, bundlev1alpha1.PhaseFailed)
}
