package ledger

import (
	"math"
	"testing"
)

func TestCheckState(t *testing.T) {
	const highest = 1 << 52
	current := &Revision{Number: 7, Plan: []Step{{}, {}}}
	for name, tc := range map[string]struct {
		reason string
		state  State
		want   string
	}{
		"Empty":    {reason: "A ledger without a revision has no step."},
		"LastStep": {reason: "The last step of a plan is a step of it.", state: State{Current: current, Cursor: Cursor{Step: 1}}},
		"Beyond": {
			reason: "A step that the plan does not have would be read from beyond its end.",
			state:  State{Current: current, Cursor: Cursor{Step: 2}}, want: "cursor.step is 2, and the plan of revision 7 has 2 steps",
		},
		"Negative": {
			reason: "No step is before the first one.",
			state:  State{Current: current, Cursor: Cursor{Step: -1}}, want: "cursor.step is -1, and the plan of revision 7 has 2 steps",
		},
		"NoPlan": {
			reason: "A revision without a plan has no step at all.",
			state:  State{Current: &Revision{Number: 1}}, want: "cursor.step is 0, and the plan of revision 1 has 0 steps",
		},
		"SharesAtTheEnd": {
			reason: "A revision that shares requests in its last step never gets all of them.",
			state:  State{Current: &Revision{Number: 1, Plan: []Step{{Weight: new(int32(0))}, {Weight: new(int32(5))}}}},
			want:   "plan of revision 1: its last step, 1, has a weight of 5 percent, and not all requests",
		},
		"Highest": {reason: "The highest number can still be counted.", state: State{Head: Head{Epoch: highest, Seq: highest}, LastNumber: highest}},
		"LastNumber": {
			reason: "A number that the next revision would count on from overflows, or is rounded on its way.",
			state:  State{LastNumber: math.MaxInt64}, want: "lastNumber is 9223372036854775807, and at most 4503599627370496",
		},
		"Epoch": {
			reason: "An epoch that a recovery would count on from overflows, or is rounded on its way.",
			state:  State{Head: Head{Epoch: highest + 1}}, want: "epoch is 4503599627370497, and at most 4503599627370496",
		},
		"Number": {
			reason: "The number of the current revision is bounded whatever the last number says.",
			state:  State{Current: &Revision{Number: highest + 1, Plan: []Step{{}}}}, want: "current.number is 4503599627370497, and at most 4503599627370496",
		},
		"Past": {
			reason: "The numbers of past revisions are bounded, since a rollback goes to them.",
			state:  State{History: []Past{{Number: 1}, {Number: highest + 1}}}, want: "history[1].number is 4503599627370497, and at most 4503599627370496",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.state.Check(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("\n%s\nCheck(): want error %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
