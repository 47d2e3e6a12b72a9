package deployment

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestAwaitedRevision asks whose pods have to be available in a directory before a position counts as live.
func TestAwaitedRevision(t *testing.T) {
	plan := []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Weight: new(int32(100))}}
	state := func(stage int32, past ...ledger.Past) ledger.State {
		return ledger.State{Current: &ledger.Revision{Number: 3, Track: "green", Stable: 1, Plan: plan}, Cursor: ledger.Cursor{Stage: stage}, History: past}
	}
	inTrack, plain := ledger.Past{Number: 1, Track: "blue"}, ledger.Past{Number: 1}
	beside := func(track string, revision int64) deliveryv1alpha1.DeliveredTree {
		return deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track, Revision: revision}, {Name: "green", Revision: 3}}}
	}
	attempt := func(s ledger.State) ledger.State {
		s.Cursor.Attempt = 1
		return s
	}
	cases := map[string]struct {
		reason string
		state  ledger.State
		target *ledger.Past
		held   deliveryv1alpha1.DeliveredTree
		want   int64
	}{
		"Step":        {reason: "In a step the pods of the revision are awaited.", state: state(ledger.StageSteps, inTrack), held: beside("blue", 1), want: 3},
		"Alone":       {reason: "A revision that is alone is awaited.", state: state(ledger.StageAlone, inTrack), held: beside("blue", 1), want: 3},
		"Before":      {reason: "Before the steps the pods are awaited that the requests go back to.", state: state(ledger.StageBeside, inTrack), held: beside("blue", 1), want: 1},
		"First":       {reason: "A revision beside which nothing was verified is awaited from the start.", state: state(ledger.StageClear), held: beside("blue", 2), want: 3},
		"InPlace":     {reason: "Without tracks a later revision may have taken the place of the stable one.", state: state(ledger.StageBeside, plain), held: beside("plain", 2), want: 2},
		"Flat":        {reason: "A directory without folders has the trees of the stable revision.", state: state(ledger.StageBeside, plain), want: 1},
		"Rollback":    {reason: "A rollback awaits the pods of its target.", state: attempt(state(ledger.StageShift, inTrack)), target: &inTrack, held: beside("blue", 1), want: 1},
		"OtherTarget": {reason: "The target need not be the stable revision.", state: attempt(state(ledger.StageSteps, inTrack)), target: &ledger.Past{Number: 2, Track: "blue"}, held: beside("blue", 2), want: 2},
		"PlainTarget": {reason: "A target without tracks may have been replaced in place.", state: attempt(state(ledger.StageShift, plain)), target: &plain, held: beside("plain", 2), want: 2},
		"NoTarget":    {reason: "A rollback whose target the ledger has dropped awaits no pods.", state: attempt(state(ledger.StageShift)), held: beside("blue", 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := trackedState{state: tc.state, target: tc.target}
			if got := x.awaitedRevision(tc.held); got != tc.want {
				t.Errorf("\n%s\nawaitedRevision(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
