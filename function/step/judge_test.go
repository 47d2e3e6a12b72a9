package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestPauseOf reads the pause behind a step.
func TestPauseOf(t *testing.T) {
	plan := []ledger.Step{{Pause: "10m"}, {Pause: PauseManual}}
	cases := map[string]struct {
		reason string
		step   int32
		want   string
	}{
		"First":  {reason: "Each step has its own pause.", want: "10m"},
		"Last":   {reason: "The pause behind the last step holds the verdict back.", step: 1, want: PauseManual},
		"Beyond": {reason: "A plan has no pause behind its end.", step: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Plan: plan}, Cursor: ledger.Cursor{Step: tc.step}}
			if diff := cmp.Diff(tc.want, pauseOf(s)); diff != "" {
				t.Errorf("\n%s\npauseOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
