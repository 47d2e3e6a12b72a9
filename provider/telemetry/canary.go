package telemetry

import (
	"slices"
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Results of a step of a canary.
const (
	// StepReleased is the result of a step whose pause or Gate ended.
	StepReleased = "Released"

	// StepPromoted is the result of a step that a user released.
	StepPromoted = "Promoted"

	// StepRejected is the result of a step in which the revision was rejected.
	StepRejected = "Rejected"

	// StepSuperseded is the result of a step in which another revision took the place of its revision.
	StepSuperseded = "Superseded"
)

func stepResults() []string {
	return []string{StepReleased, StepPromoted, StepRejected, StepSuperseded}
}

// CanaryState adds delta, which may be negative, to the number of deployments whose canary is in a state.
func (m *Metrics) CanaryState(s deploymentv1alpha1.CanaryState, delta int) {
	label := string(s)
	if !slices.Contains(deploymentv1alpha1.CanaryStates(), s) {
		label = Other
	}
	m.canaries.WithLabelValues(label).Add(float64(delta))
}

// CanaryStepEnded counts a step of a canary by its result.
func (m *Metrics) CanaryStepEnded(result string) { m.canarySteps.WithLabelValues(result).Inc() }

// CanaryStepTook records how long a step of a canary took.
func (m *Metrics) CanaryStepTook(took time.Duration) {
	m.canaryStepSeconds.WithLabelValues().Observe(took.Seconds())
}

// CanaryLostRequests records how long a rejected revision went on to get requests.
func (m *Metrics) CanaryLostRequests(took time.Duration) {
	m.canaryZeroSeconds.WithLabelValues().Observe(took.Seconds())
}
