package telemetry

import (
	"cmp"
	"time"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

// Applications are the metrics of Applications.
type Applications struct{ m *Metrics }

// Applications are the same metrics of Applications.
func (m *Metrics) Applications() Applications { return Applications{m} }

// Transition counts a change of the phase of an Application.
func (a Applications) Transition(source, target string) {
	a.m.applicationTransitions.WithLabelValues(phaseLabel(source, applicationPhases()), phaseLabel(target, applicationPhases())).Inc()
}

// PhaseTook notes how long an Application was in a phase.
func (a Applications) PhaseTook(p string, took time.Duration) {
	a.m.applicationPhases.WithLabelValues(phaseLabel(p, applicationPhases())).Observe(took.Seconds())
}

// Current adds delta, which may be negative, to the number of Applications that are in a phase. They have no outcome.
func (a Applications) Current(p, _ string, delta int) {
	a.m.applicationCurrent.WithLabelValues(phaseLabel(p, applicationPhases())).Add(float64(delta))
}

func applicationPhases() []string {
	return convertToStrings(
		applicationv1alpha1.PhasePending, applicationv1alpha1.PhaseBuilding, applicationv1alpha1.PhaseDeploying, applicationv1alpha1.PhaseRunning,
		applicationv1alpha1.PhaseDegraded, applicationv1alpha1.PhaseFailed,
	)
}

// Built counts a Build of an image that ended, and notes how long it took. Zero is not known.
func (m *Metrics) Built(result, reason string, took time.Duration) {
	m.builds.WithLabelValues(result, reason).Inc()
	if took > 0 {
		m.buildSeconds.WithLabelValues().Observe(took.Seconds())
	}
}

// SourceHook counts a webhook of a Git server, by its result.
func (m *Metrics) SourceHook(result string) { m.sourceHooks.WithLabelValues(result).Inc() }

// SourceLook counts a look at a repository with source code, by the class of its error. It is empty without one.
func (m *Metrics) SourceLook(class string) {
	m.sourceLooks.WithLabelValues(cmp.Or(class, Succeeded)).Inc()
}
