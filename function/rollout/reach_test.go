package rollout

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A state is all that an order comes to.
type state struct {
	step, attempt      int32
	verdict            rolloutv1alpha1.VerdictResult
	restored, recorded bool
}

func stateOf(o rolloutv1alpha1.Order, recorded bool) state {
	s := state{step: o.Step, attempt: o.Attempt, restored: Restored(o), recorded: recorded}
	if o.Verdict != nil {
		s.verdict = o.Verdict.Result
	}
	return s
}

// ended is true for a state that a deployment shows as Succeeded or Failed.
func (s state) ended(stop Stop) bool {
	switch s.verdict {
	case rolloutv1alpha1.VerdictVerified:
		return s.recorded
	case rolloutv1alpha1.VerdictRejected:
		return s.restored && s.recorded || !s.restored && stop != StopNone && stop != StopUnknown
	}
	return false
}

// A settled world is what a repository says of a rejected revision that changed a directory, and whether there is a target.
func settled(o rolloutv1alpha1.Order, recorded, target bool) *deliveryv1alpha1.GitDelivery {
	d := delivery(o, nil)
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1", Path: "p"}}
	at := &d.Status.AtProvider
	at.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "edge1", Path: "p", Tree: "bad", Revision: o.Revision}}
	if recorded {
		at.Order = o.DeepCopy()
	}
	if target {
		at.History = []deliveryv1alpha1.HistoryEntry{{Revision: 1, Verdict: verified, Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "good"}}}}
	}
	return d
}

// proofsOf an order: all that may be known of it.
func proofsOf() []Proof {
	var out []Proof
	for flags := range 8 {
		p := Proof{Live: flags&1 != 0, Passed: flags&2 != 0}
		if flags&4 != 0 {
			p.Failure = failure
		}
		out = append(out, p)
	}
	return out
}

// TestReach walks through all that an order can come to, whatever is known and whatever the policy says. It checks that nothing is taken
// back but by the way back, and that an end can be reached from everywhere.
func TestReach(t *testing.T) {
	first := changed(order(2, "b"), func(o *rolloutv1alpha1.Order) {
		o.Steps, o.Plan = 2, []rolloutv1alpha1.Step{{Sites: []string{"edge1"}, Gate: new(true)}, {Sites: []string{"edge2"}, Gate: new(true)}}
	})
	next, orders, ends := map[state]map[state]bool{}, map[state]rolloutv1alpha1.Order{}, map[state]bool{}
	todo, edges := []state{stateOf(first, false)}, 0
	orders[todo[0]] = first
	for len(todo) > 0 {
		from := todo[0]
		todo = todo[1:]
		if next[from] != nil {
			continue
		}
		next[from] = map[state]bool{}
		follow(orders[from], from.recorded, func(o rolloutv1alpha1.Order, recorded bool, stop Stop) {
			to := stateOf(o, recorded)
			if edges++; from.verdict != "" && to.verdict != from.verdict || to.attempt < from.attempt || to.step < from.step || from.restored && !to.restored || to.attempt > 3 {
				t.Errorf("%+v comes to %+v", from, to)
			}
			next[from][to], orders[to] = true, o
			if to.ended(stop) {
				ends[to] = true
			}
			if to.attempt <= 4 {
				todo = append(todo, to)
			}
		})
	}
	for from := range next {
		if !reaches(from, next, ends, map[state]bool{}) {
			t.Errorf("%+v comes to no end", from)
		}
	}
	t.Logf("%d states of an order, %d ways from one to another, %d ends", len(next), edges, len(ends))
}

// follow calls with all that may follow from an order.
func follow(o rolloutv1alpha1.Order, recorded bool, do func(rolloutv1alpha1.Order, bool, Stop)) {
	for _, p := range proofsOf() {
		judged := Judge(o, p)
		if !judged.Rejected() {
			do(judged, recorded && Same(judged, o), StopNone)
			continue
		}
		for _, target := range []bool{false, true} {
			for _, policy := range []Policy{{}, {MaxRetries: 3}, {Auto: true}, {Auto: true, MaxRetries: 3}, {Auto: true, MaxRetries: 1}} {
				all := []*deliveryv1alpha1.GitDelivery{settled(judged, recorded && Same(judged, o), target)}
				back, stop := Back(judged, Retreat{Policy: policy, All: all, Parts: all, Chosen: func(string) bool { return true }, Proof: p})
				do(back, recorded && Same(back, o), stop)
			}
		}
	}
	do(o, true, StopNone)
}

// reaches is true for a state that an end follows from.
func reaches(from state, next map[state]map[state]bool, ends, seen map[state]bool) bool {
	if ends[from] {
		return true
	}
	seen[from] = true
	for to := range next[from] {
		if !seen[to] && reaches(to, next, ends, seen) {
			return true
		}
	}
	return false
}
