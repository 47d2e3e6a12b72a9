package step

import (
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestNextStep goes on from a step.
func TestNextStep(t *testing.T) {
	canary := []ledger.Step{{Weight: new(int32(0))}, {Weight: new(int32(5))}, {Weight: new(int32(20))}, {Weight: new(int32(100))}}
	cases := map[string]struct {
		reason string
		plan   []ledger.Step
		cursor ledger.Cursor
		want   int32
	}{
		"Next":   {reason: "One step follows the other.", plan: canary, want: 1},
		"Full":   {reason: "Steps that share requests are left out once a user released all.", plan: canary, cursor: ledger.Cursor{Full: true}, want: 3},
		"Middle": {reason: "Steps that are left are left out, too.", plan: canary, cursor: ledger.Cursor{Step: 1, Full: true}, want: 3},
		"Forged": {reason: "Nothing is read from beyond a plan whose last step shares requests.", plan: canary[:3], cursor: ledger.Cursor{Full: true}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := nextStep(ledger.State{Current: &ledger.Revision{Plan: tc.plan}, Cursor: tc.cursor}); got != tc.want {
				t.Errorf("\n%s\nnextStep(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
