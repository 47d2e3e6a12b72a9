package causes

import (
	"testing"

	"github.com/intentplane/intentplane/apis/advice"
)

// TestInstallationCauses breaks the shared parts of all deployments, one after another, while no other test runs.
func TestInstallationCauses(t *testing.T) {
	for name, scenario := range sharedStories() {
		for shapeName, describe := range deploymentShapes() {
			t.Run(name+shapeName, func(t *testing.T) { newCauseStage(t, describe, "edge1").breakAndRepair(scenario) })
		}
	}
}

// TestBreakerCause writes a composed object too often.
func TestBreakerCause(t *testing.T) {
	t.Parallel()
	playStories(t, map[string]story{"Open": {
		reason: "A circuit breaker that is open is the cause until Crossplane closes it, once the other program stops writing.",
		breaks: func(s *stage) func() {
			s.awaitSucceeded(1)
			s.OpenBreaker(s.deployment)
			s.editReplicas(2)
			return s.refreshUntilResponsive
		},
		want: answer{
			object: "Crossplane's circuit breaker",
			reason: advice.ReasonWatchCircuitOpen,
			actor:  advice.PlatformTeam, do: "Wait five minutes, then use kubectl intent refresh",
		},
		toEditorOfClaim: answer{
			object: "IntentDeployment shop",
			reason: advice.ReasonNotComposed,
			actor:  advice.PlatformTeam, do: "check the Pods of the function and of Crossplane",
		},
	}})
}
