package canary

import "testing"

// TestReduceWeightAndHonorMaxUnavailable is a sequence of argo-rollouts' end-to-end tests: steps that take weight away again. We differ: a weight that
// falls is refused, since a revision that is to lose requests is given up.
func TestReduceWeightAndHonorMaxUnavailable(t *testing.T) {
	_, err := Plan(Input{IsServed: func(string) bool { return true }, Waves: []Wave{wave("", "edge1", weight(10), weight(50), weight(5))}})
	const want = "spec.deliveryConfig.canary.steps[2]: weight 5 is not higher than the one before, which is 50"
	if message(err) != want {
		t.Errorf("Plan(...): want error %q, got %q", want, message(err))
	}
}
