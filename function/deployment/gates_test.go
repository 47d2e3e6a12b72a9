package deployment

import (
	"testing"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/gates"
)

// TestChecksOf takes the checks for canaries in the steps in which two tracks get requests.
func TestChecksOf(t *testing.T) {
	named := func(name string) gates.Checks {
		return gates.Checks{rolloutv1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Name: name, Site: "edge1"}}}
	}
	k := Compiled{checks: named("whole"), canaryChecks: named("canary"), desired: step.Desired{Placement: step.Placement{Track: "green", HasSteps: true}}}
	cases := map[string]struct {
		reason string
		step   int32
		track  string
		want   string
	}{
		"Shared": {reason: "Where two tracks get requests the canary is measured.", step: 1, track: "green", want: "canary"},
		"Whole":  {reason: "A revision that gets all requests is measured as a whole.", step: 2, track: "green", want: "whole"},
		"Other":  {reason: "Checks of another track measure nothing of this one.", step: 1, track: "blue", want: "whole"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Cursor: ledger.Cursor{Step: tc.step}, Current: &ledger.Revision{Number: 2, Track: tc.track, Plan: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Weight: new(int32(20))}, {Weight: new(int32(100))},
			}}}
			if got := k.checksOf(s); len(got) != 1 || got[0].Name != tc.want {
				t.Errorf("\n%s\nchecksOf(...): want %s, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}
