package canary

import (
	"testing"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestCheckSteps gives the plan steps that no revision can go through.
func TestCheckSteps(t *testing.T) {
	cases := map[string]struct {
		reason string
		steps  steps
		want   string
	}{
		"Good": {
			reason: "Weights that rise, with pauses between them, are planned.",
			steps:  steps{pause("1s"), weight(1), pause(""), weight(100), pause("720h")},
		},
		"Neither": {reason: "A step has a weight or a pause.", steps: steps{{}}, want: "steps[0]: exactly one of weight and pause must be set"},
		"Both": {
			reason: "A step has no weight and pause at once.",
			steps:  steps{{Weight: new(int32(5)), Pause: &deploymentv1alpha1.CanaryPause{}}},
			want:   "steps[0]: exactly one of weight and pause must be set",
		},
		"GatedPause": {
			reason: "A pause has no Gate of its own.",
			steps:  steps{{Pause: &deploymentv1alpha1.CanaryPause{}, Gate: new(true)}}, want: "steps[0]: gate goes with weight",
		},
		"TwoPauses": {
			reason: "Two pauses in a row are refused, since one of them would be lost.",
			steps:  steps{weight(5), pause("1m"), pause("")}, want: "steps[2]: a weight must stand between two pauses",
		},
		"Zero":    {reason: "The start of the pods is not a step of the user.", steps: steps{weight(0)}, want: "steps[0]: weight 0 is not between 1 and 100"},
		"TooMuch": {reason: "A weight is a share of all requests.", steps: steps{weight(101)}, want: "steps[0]: weight 101 is not between 1 and 100"},
		"Equal": {
			reason: "A weight that stays the same is refused.",
			steps:  steps{weight(5), pause(""), weight(5)}, want: "steps[2]: weight 5 is not higher than the previous weight 5",
		},
		"ZeroPause": {reason: "A pause of no time is refused.", steps: steps{pause("0s")}, want: `steps[0]: pause.duration: "0s" is not between 1s and 720h`},
		"Negative": {
			reason: "A pause of less than no time is refused.",
			steps:  steps{pause("-5s")}, want: `steps[0]: pause.duration: "-5s" is not between 1s and 720h`,
		},
		"NoUnit": {reason: "A pause needs a unit.", steps: steps{pause("10")}, want: `steps[0]: pause.duration: "10" is not between 1s and 720h`},
		"TooLong": {
			reason: "A pause of more than 30 days is refused.",
			steps:  steps{pause("721h")}, want: `steps[0]: pause.duration: "721h" is not between 1s and 720h`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := message(checkWaveSteps(Wave{Field: "steps", Steps: tc.steps})); got != tc.want {
				t.Errorf("\n%s\ncheckSteps(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestCheckDrain compares drain times with the time of an attempt.
func TestCheckDrain(t *testing.T) {
	cases := map[string]struct {
		reason         string
		drain, attempt deploymentv1alpha1.Duration
		want           string
	}{
		"Default": {reason: "The default is less than that of an attempt.", attempt: "5m"},
		"Shorter": {reason: "A drain that an attempt can wait for is let in.", drain: "4m59s", attempt: "5m"},
		"AsLong": {
			reason: "An attempt would end while it drains.",
			drain:  "5m", attempt: "5m",
			want: "spec.deliveryConfig.canary.drain: 5m is not less than spec.rollbackConfig.attemptTimeout, which is 5m",
		},
		"TooLong": {
			reason: "A drain of more than 10m is refused.",
			drain:  "11m", attempt: "1h", want: `spec.deliveryConfig.canary.drain: "11m" is not between 1s and 10m`,
		},
		"TooShort": {
			reason: "A drain of less than a second is refused.",
			drain:  "10ms", attempt: "1h", want: `spec.deliveryConfig.canary.drain: "10ms" is not between 1s and 10m`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := message(CheckDrain(tc.drain, tc.attempt)); got != tc.want {
				t.Errorf("\n%s\nCheckDrain(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
