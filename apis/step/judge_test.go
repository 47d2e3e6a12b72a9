package step

import (
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestNextStep continues from a step of a canary.
func TestNextStep(t *testing.T) {
	canary := []ledger.Step{{Weight: new(int32(0))}, {Weight: new(int32(5))}, {Weight: new(int32(20))}, {Weight: new(int32(100))}}
	cases := map[string]struct {
		reason string
		plan   []ledger.Step
		cursor ledger.Cursor
		want   int32
	}{
		"Next":   {reason: "The next step of the plan follows.", plan: canary, want: 1},
		"Full":   {reason: "Once a user released all steps, steps with shares are skipped.", plan: canary, cursor: ledger.Cursor{Full: true}, want: 3},
		"Middle": {reason: "The remaining steps with shares are skipped, too.", plan: canary, cursor: ledger.Cursor{Step: 1, Full: true}, want: 3},
		"Forged": {reason: "The last step of a plan is never skipped.", plan: canary[:3], cursor: ledger.Cursor{Full: true}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := nextStep(ledger.State{Current: &ledger.Revision{Plan: tc.plan}, Cursor: tc.cursor}); got != tc.want {
				t.Errorf("\n%s\nnextStep(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
