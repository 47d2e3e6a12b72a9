package rollout

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// following is the order that follows from a request, of which some need a plan.
func following(o rolloutv1alpha1.Order, r *rolloutv1alpha1.RolloutRequest) rolloutv1alpha1.Order {
	if newOne(r) && r.Spec.Action != rolloutv1alpha1.ActionRollbackTo {
		return changed(o, func(o *rolloutv1alpha1.Order) {
			o.Revision, o.Step, o.Attempt, o.Promoted, o.Verdict, o.Target, o.Restored, o.RequestRef = 4, 0, 0, 0, nil, nil, nil, Ref(r)
		})
	}
	return Obey(o, r)
}

// newOne is true for what makes a revision.
func newOne(r *rolloutv1alpha1.RolloutRequest) bool {
	return r.Spec.Action != rolloutv1alpha1.ActionAbort && r.Spec.Action != rolloutv1alpha1.ActionPromote
}

// told is what the one hears that was not taken, when another one was.
func told(loser, winner *rolloutv1alpha1.RolloutRequest) rolloutv1alpha1.Result {
	created := loser.GetCreationTimestamp()
	later := winner.CreationTimestamp.Before(&created)
	switch {
	case newOne(winner):
		return rolloutv1alpha1.ResultStale
	case loser.Spec.Action == rolloutv1alpha1.ActionAbort:
		return rolloutv1alpha1.ResultAlreadyJudged
	case !later:
		return rolloutv1alpha1.ResultStale
	case newOne(loser):
		return rolloutv1alpha1.ResultWaiting // Who asks after an Abort, or a Promote, knows of it, and has the next turn.
	case winner.Spec.Action == rolloutv1alpha1.ActionAbort:
		return rolloutv1alpha1.ResultAlreadyJudged
	}
	return rolloutv1alpha1.ResultStale // The step was released.
}

// TestPairs asks each two things at once in each phase, in both orders and in the same second: who wins, and what both hear when the order
// follows. Where nobody wins, each hears what it would alone.
func TestPairs(t *testing.T) {
	actions := []string{"Abort", "RollbackTo 1", "Promote 1", "ApproveUpdate", "Retry"} // In the order of their turns.
	alone, cells, won := answers(), 0, 0
	for i, phase := range situations() {
		for a, older := range actions {
			for b, younger := range actions {
				for _, minute := range []int{1, 2} {
					x, y := asking(older, 1), asking(younger, minute)
					x.Name, y.Name, x.UID, y.UID = "1", "2", types.UID("uid-1"), types.UID("uid-2")
					both := []rolloutv1alpha1.RolloutRequest{y, x}
					slices.SortFunc(both, rolloutv1alpha1.CompareAge)
					takes := []bool{alone[older][i] == "Taken", alone[younger][i] == "Taken"}
					wins := -1
					switch {
					case takes[0] && (!takes[1] || a <= b):
						wins = 0
					case takes[1]:
						wins = 1
					}
					cells++
					if wins >= 0 {
						won++
					}
					wantPair(t, phase+": "+older+", "+younger, situation(phase), both, wins, []string{alone[older][i], alone[younger][i]})
				}
			}
		}
	}
	t.Logf("%d cells, in %d of which one wins", cells, won)
	if cells != 8*5*5*2 || won < cells/2 {
		t.Errorf("%d cells, in %d of which one wins", cells, won)
	}
}

// wantPair fails the test unless the one of two requests that is to win does, or nobody where none is.
func wantPair(t *testing.T, cell string, s Standing, both []rolloutv1alpha1.RolloutRequest, wins int, alone []string) {
	t.Helper()
	taken := Choice(both, s)
	if wins < 0 {
		got := []string{string(ResultOf(&both[0], s)), string(ResultOf(&both[1], s))}
		if diff := cmp.Diff(alone, got); diff != "" || taken != nil {
			t.Errorf("%s: nobody wins, got %v: -want, +got:\n%s", cell, taken, diff)
		}
		return
	}
	winner, loser := &both[wins], &both[1-wins]
	if taken == nil || taken.GetName() != winner.GetName() {
		t.Errorf("%s: want %s to win, got %v", cell, winner.Spec.Action, taken)
		return
	}
	next := following(*s.Order, winner)
	s.Order, s.Ended = &next, false
	want := []rolloutv1alpha1.Result{rolloutv1alpha1.ResultTaken, told(loser, winner)}
	if diff := cmp.Diff(want, []rolloutv1alpha1.Result{ResultOf(winner, s), ResultOf(loser, s)}); diff != "" {
		t.Errorf("%s: what winner and loser hear: -want, +got:\n%s", cell, diff)
	}
}
