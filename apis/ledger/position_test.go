package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPositionHasReached compares positions as their observers do.
func TestPositionHasReached(t *testing.T) {
	position := Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 3, Stage: 1}
	type want struct{ same, reached bool }
	cases := map[string]struct {
		reason string
		change func(*Position)
		want   want
	}{
		"Same": {reason: "A position has reached itself.", change: func(*Position) {}, want: want{same: true, reached: true}},
		"LaterStep": {
			reason: "A later step has reached the earlier one.",
			change: func(p *Position) { p.Step, p.Stage = 4, 0 }, want: want{same: true, reached: true},
		},
		"LaterStage":   {reason: "A later stage has reached the earlier one.", change: func(p *Position) { p.Stage = 2 }, want: want{same: true, reached: true}},
		"EarlierStep":  {reason: "An earlier step has not reached the later one.", change: func(p *Position) { p.Step, p.Stage = 2, 4 }, want: want{same: true}},
		"EarlierStage": {reason: "An earlier stage has not reached the later one.", change: func(p *Position) { p.Stage = 0 }, want: want{same: true}},
		"Attempt":      {reason: "Another attempt has trees of its own, so that it proves nothing.", change: func(p *Position) { p.Attempt = 2 }},
		"Revision":     {reason: "Another revision has trees of its own, so that it proves nothing.", change: func(p *Position) { p.Revision = 3 }},
		"Epoch":        {reason: "After a loss, another revision may have the number.", change: func(p *Position) { p.Epoch = 2 }},
		"None":         {reason: "Without a revision there is nothing to reach.", change: func(p *Position) { *p = Position{} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := position
			tc.change(&p)
			got := want{same: p.IsSameAttempt(position), reached: p.HasReached(position)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nHasReached(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if (Position{}).IsSameAttempt(Position{}) {
		t.Error("Before the first revision no attempt exists.")
	}
}

// TestStateAtStep reads the plan of a revision with two steps, the first of which has a Gate.
func TestStateAtStep(t *testing.T) {
	plan := []Step{{Sites: []string{"a"}, Gate: true}, {Sites: []string{"b"}}}
	type answers struct {
		Steps         [3]int32
		Reached       [3]bool
		AtLast, Gated bool
		Next          int32
	}
	cases := map[string]struct {
		reason string
		state  State
		want   answers
	}{
		"First": {
			reason: "The first step reaches its Sites, and a Site that no step names comes last.", state: State{Current: &Revision{Plan: plan}},
			want: answers{Steps: [3]int32{0, 1, 1}, Reached: [3]bool{true, false, false}, Gated: true, Next: 1},
		},
		"BeforeSteps": {
			reason: "Before the steps of a canary the present step is the next one.",
			state:  State{Current: &Revision{Plan: plan, Track: TrackGreen}, Cursor: Cursor{Stage: StageShift}},
			want:   answers{Steps: [3]int32{0, 1, 1}, Reached: [3]bool{true, false, false}, Gated: true},
		},
		"Last": {
			reason: "The last step has reached all Sites.", state: State{Current: &Revision{Plan: plan}, Cursor: Cursor{Step: 1}},
			want: answers{Steps: [3]int32{0, 1, 1}, Reached: [3]bool{true, true, true}, AtLast: true, Next: 2},
		},
		"Rollback": {
			reason: "A rollback reaches all Sites at once, and no Gate judges it.", state: State{Current: &Revision{Plan: plan}, Cursor: Cursor{Attempt: 1}},
			want: answers{Reached: [3]bool{true, true, true}, Next: 1},
		},
		"NoPlan": {
			reason: "A revision whose plan is not known is at its last step, and reaches all Sites.", state: State{Current: &Revision{}},
			want: answers{Reached: [3]bool{true, true, true}, AtLast: true, Next: 1},
		},
		"Nothing": {reason: "A ledger without a revision is at no step.", want: answers{Reached: [3]bool{true, true, true}, Next: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := answers{AtLast: tc.state.IsAtLastStep(), Gated: tc.state.IsGated(), Next: tc.state.NextStep()}
			for i, site := range []string{"a", "b", "other"} {
				got.Steps[i], got.Reached[i] = tc.state.StepOf(site), tc.state.HasReached(site)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nStepOf(...), HasReached(...), IsAtLastStep(), IsGated(), NextStep(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPositionIsWithinBounds is of positions that a user wrote into a commit.
func TestPositionIsWithinBounds(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     Position
		want   bool
	}{
		"None": {reason: "The position before the first revision is one.", want: true},
		"Last": {
			reason: "The highest position is one.",
			at:     Position{Epoch: MaxNumber, Revision: MaxNumber, Attempt: 1 << 30, Step: MaxSteps - 1, Stage: StageAlone}, want: true,
		},
		"Epoch":      {reason: "An epoch that cannot be counted on from is refused.", at: Position{Epoch: MaxNumber + 1}},
		"Revision":   {reason: "A revision that cannot be counted on from is refused.", at: Position{Revision: MaxNumber + 1}},
		"Negative":   {reason: "No revision is below zero.", at: Position{Revision: -1}},
		"Attempt":    {reason: "No attempt is below zero.", at: Position{Attempt: -1}},
		"Step":       {reason: "No plan has so many steps.", at: Position{Step: MaxSteps}},
		"StepBefore": {reason: "No step is before the first one.", at: Position{Step: -1}},
		"Stage":      {reason: "No step has so many stages.", at: Position{Stage: StageAlone + 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.at.IsWithinBounds(); got != tc.want {
				t.Errorf("\n%s\nIsWithinBounds(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
