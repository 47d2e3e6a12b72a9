package canary

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func weight(percent int32) deploymentv1alpha1.CanaryStep {
	return deploymentv1alpha1.CanaryStep{Weight: new(percent)}
}

func ungated(percent int32) deploymentv1alpha1.CanaryStep {
	return deploymentv1alpha1.CanaryStep{Weight: new(percent), Gate: new(false)}
}

func pause(duration string) deploymentv1alpha1.CanaryStep {
	return deploymentv1alpha1.CanaryStep{Pause: &deploymentv1alpha1.CanaryPause{Duration: deploymentv1alpha1.Duration(duration)}}
}

type steps = []deploymentv1alpha1.CanaryStep

// wave is a wave of a Site, with the steps of the deployment.
func wave(name, site string, s ...deploymentv1alpha1.CanaryStep) Wave {
	return Wave{Name: name, Sites: []string{site}, Steps: s, Field: "spec.deliveryConfig.canary.steps"}
}

// TestPlan plans the steps of deployments whose stable revision serves edge1 and edge2.
func TestPlan(t *testing.T) {
	manySteps := steps{}
	for n := range int32(11) {
		manySteps = append(manySteps, weight(n+1))
	}
	cases := map[string]struct {
		reason string
		in     Input
		want   []ledger.Step
		err    string
	}{
		"Whole": {
			reason: "A plan begins with the pods, and ends with all requests; each weight has its Gate, and the pause behind it.",
			in:     Input{HasChecks: true, Waves: []Wave{wave("", "edge1", pause("1m"), weight(5), pause("10m"), weight(20), pause(""), ungated(50))}},
			want: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(5)), Pause: "1m"},
				{Weight: new(int32(5)), Ahead: new(int32(20)), Gate: true, Pause: "10m"},
				{Weight: new(int32(20)), Ahead: new(int32(50)), Gate: true, Pause: "Manual"},
				{Weight: new(int32(50)), Ahead: new(int32(100)), Pause: "15s"},
				{Weight: new(int32(100)), Gate: true},
			},
		},
		"Ungated": {
			reason: "A deployment without checks pauses at each weight below 100, and keeps the last one as it is.",
			in:     Input{Waves: []Wave{wave("", "edge1", weight(50), weight(100), pause("1h"))}},
			want: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(50))},
				{Weight: new(int32(50)), Ahead: new(int32(100)), Pause: "15s"},
				{Weight: new(int32(100)), Pause: "1h"},
			},
		},
		"Full": {
			reason: "A canary of full scale has all pods from the first step on.",
			in:     Input{Scale: "Full", HasChecks: true, Waves: []Wave{wave("", "edge1", weight(5), weight(20))}},
			want: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(100))},
				{Weight: new(int32(5)), Ahead: new(int32(100)), Gate: true},
				{Weight: new(int32(20)), Ahead: new(int32(100)), Gate: true},
				{Weight: new(int32(100)), Gate: true},
			},
		},
		"Waves": {
			reason: "Waves follow each other, each with its own steps. A Site that the stable revision does not serve comes with the last one.",
			in: Input{HasChecks: true, Waves: []Wave{
				{Name: "first", Sites: []string{"edge1", "edge9"}, Steps: steps{weight(5)}},
				{Name: "new", Sites: []string{"edge8"}, Steps: steps{weight(5)}},
				{Sites: []string{"edge2"}},
			}},
			want: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(5))},
				{Weight: new(int32(5)), Ahead: new(int32(100)), Gate: true},
				{Sites: []string{"edge9"}, Weight: new(int32(100)), Gate: true},
				{Sites: []string{"edge8"}, Gate: true},
				{Sites: []string{"edge2"}, Weight: new(int32(0)), Ahead: new(int32(100))},
				{Weight: new(int32(100)), Gate: true},
			},
		},
		"TooMany": {
			reason: "A plan of more than 20 steps is refused with the waves and their numbers.",
			in:     Input{Waves: []Wave{wave("first", "edge1", manySteps...), wave("", "edge2", weight(5), weight(10), weight(20), weight(30), weight(50), weight(80))}},
			err: "spec.deliveryConfig.canary: the waves have 21 steps together, more than 20: 13 of wave first, 8 of the Sites in no wave, " +
				"each with one for the start of the pods",
		},
		"BadStep": {
			reason: "A wave with a wrong step is refused.", in: Input{Waves: []Wave{wave("first", "edge1", weight(20), weight(5))}},
			err: "spec.deliveryConfig.canary.steps[1]: weight 5 is not higher than the previous weight 20",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stable := &ledger.Past{Trees: []ledger.SiteTree{{Site: "edge1"}, {Site: "edge2"}}}
			tc.in.IsServed = IsServedBy(stable)
			got, err := Plan(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want, +got:\n%s", tc.reason, diff)
			}
			if errText := message(err); errText != tc.err {
				t.Errorf("\n%s\nPlan(...): want error %q, got %q", tc.reason, tc.err, errText)
			}
		})
	}
	if IsServedBy(nil)("edge1") {
		t.Error("\nWithout a stable revision no Site is served.\nIsServedBy(nil): got true")
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestReduceWeightAndHonorMaxUnavailable is a sequence of argo-rollouts' end-to-end tests: steps that take weight away again. We differ: a weight that
// falls is refused, since a revision that is to lose requests is given up.
func TestReduceWeightAndHonorMaxUnavailable(t *testing.T) {
	_, err := Plan(Input{IsServed: func(string) bool { return true }, Waves: []Wave{wave("", "edge1", weight(10), weight(50), weight(5))}})
	const want = "spec.deliveryConfig.canary.steps[2]: weight 5 is not higher than the previous weight 50"
	if message(err) != want {
		t.Errorf("Plan(...): want error %q, got %q", want, message(err))
	}
}
