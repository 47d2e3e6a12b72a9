package directories

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
)

// weighted is a plan that gives a canary at edge1 no requests first, and then comes to edge2.
func weighted() []ledger.Step {
	return []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Sites: []string{"edge2"}, Weight: new(int32(100))}}
}

// TestWaveOf asks from which step on a Site of the last step has to run its tree.
func TestWaveOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		track  string
		plan   []ledger.Step
		cursor ledger.Cursor
		want   int32
	}{
		"Step": {
			reason: "In the steps each Site has the step of the plan.",
			track:  track.Green,
			plan:   weighted(),
			cursor: ledger.Cursor{Stage: ledger.StageSteps},
			want:   1,
		},
		"Before": {
			reason: "Before the steps the requests move at each Site.",
			track:  track.Green,
			plan:   weighted(),
			cursor: ledger.Cursor{Stage: ledger.StageShift},
		},
		"Alone": {
			reason: "A revision is alone at each Site.",
			track:  track.Green,
			plan:   weighted(),
			cursor: ledger.Cursor{Step: 1, Stage: ledger.StageAlone},
		},
		"Rollback": {
			reason: "A rollback reaches all Sites at once.",
			track:  track.Green,
			plan:   weighted(),
			cursor: ledger.Cursor{Attempt: 1, Stage: ledger.StageSteps},
		},
		"Plain": {reason: "Without tracks each Site has the step of the plan.", plan: []ledger.Step{{Sites: []string{"edge1"}}, {}}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 2, Track: tc.track, Plan: tc.plan}, Cursor: tc.cursor}
			if got := WaveOf(s, "edge2"); got != tc.want {
				t.Errorf("\n%s\nWaveOf(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestWaveToObserve asks from which step on a Site of a canary that has no directory yet has to run a tree.
func TestWaveToObserve(t *testing.T) {
	cases := map[string]struct {
		reason string
		site   string
		tree   string
		cursor ledger.Cursor
		want   int32
	}{
		"Before":    {reason: "No stage before the steps awaits the first tree of a Site.", site: "edge1", cursor: ledger.Cursor{Stage: ledger.StageShift}, want: 1},
		"Later":     {reason: "A Site of the second step gets its first tree there.", site: "edge2", cursor: ledger.Cursor{Stage: ledger.StageClear}, want: 1},
		"Delivered": {reason: "Before the steps a Site has to run its tree.", site: "edge1", tree: "one", cursor: ledger.Cursor{Stage: ledger.StageShift}},
		"Step":      {reason: "In the steps a Site has the step of the plan.", site: "edge1", cursor: ledger.Cursor{Stage: ledger.StageSteps}},
		"Rollback":  {reason: "A rollback reaches all Sites at once.", site: "edge2", cursor: ledger.Cursor{Attempt: 1, Stage: ledger.StageShift}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 2, Track: track.Green, Plan: weighted()}, Cursor: tc.cursor}
			if got := WaveToObserve(s, tc.site, deliveryv1alpha1.DeliveredTree{Tree: tc.tree}); got != tc.want {
				t.Errorf("\n%s\nWaveToObserve(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAwaitedRevision asks which pods have to be available in a directory before a position counts as live.
func TestAwaitedRevision(t *testing.T) {
	state := func(stage int32, past ...ledger.Past) ledger.State {
		for i := range past {
			past[i].Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
		}
		return ledger.State{Current: &ledger.Revision{Number: 3, Track: "green", Stable: 1, Plan: weighted()}, Cursor: ledger.Cursor{Stage: stage}, History: past}
	}
	inTrack, plain := ledger.Past{Number: 1, Track: "blue"}, ledger.Past{Number: 1}
	beside := func(track string, revision int64) deliveryv1alpha1.DeliveredTree {
		return deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track, Revision: revision}, {Name: "green", Revision: 3}}}
	}
	attempt := func(target int64, s ledger.State) ledger.State {
		s.Cursor.Attempt, s.Target = 1, target
		return s
	}
	cases := map[string]struct {
		reason string
		state  ledger.State
		held   deliveryv1alpha1.DeliveredTree
		want   int64
	}{
		"Step": {
			reason: "In a step the pods of the revision are awaited.",
			state:  state(ledger.StageSteps, inTrack),
			held:   beside("blue", 1),
			want:   3,
		},
		"Alone": {
			reason: "A revision that is alone is awaited.",
			state:  state(ledger.StageAlone, inTrack),
			held:   beside("blue", 1),
			want:   3,
		},
		"Before": {
			reason: "Before the steps the pods are awaited that the requests go back to.",
			state:  state(ledger.StageBeside, inTrack),
			held:   beside("blue", 1),
			want:   1,
		},
		"First": {
			reason: "A revision beside which nothing was verified is awaited from the start.",
			state:  state(ledger.StageClear),
			held:   beside("blue", 2),
			want:   3,
		},
		"InPlace": {
			reason: "Without tracks a later revision may have taken the place of the stable one.",
			state:  state(ledger.StageBeside, plain),
			held:   beside("plain", 2),
			want:   2,
		},
		"Flat": {
			reason: "A directory without folders has the trees of the stable revision.",
			state:  state(ledger.StageBeside, plain),
			want:   1,
		},
		"Rollback": {
			reason: "A rollback awaits the pods of its target.",
			state:  attempt(1, state(ledger.StageShift, inTrack)),
			held:   beside("blue", 1),
			want:   1,
		},
		"OtherTarget": {
			reason: "The target need not be the stable revision.",
			state:  attempt(2, state(ledger.StageSteps, inTrack, ledger.Past{Number: 2, Track: "blue"})),
			held:   beside("blue", 2),
			want:   2,
		},
		"PlainTarget": {
			reason: "A target without tracks may have been replaced in place.",
			state:  attempt(1, state(ledger.StageShift, plain)),
			held:   beside("plain", 2),
			want:   2,
		},
		"NoTarget": {
			reason: "A rollback whose target the ledger has dropped awaits no pods.",
			state:  attempt(1, state(ledger.StageShift)),
			held:   beside("blue", 1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := AwaitedRevision(tc.state, tc.held); got != tc.want {
				t.Errorf("\n%s\nAwaitedRevision(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
