package ledger

import "testing"

func TestCheck(t *testing.T) {
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
