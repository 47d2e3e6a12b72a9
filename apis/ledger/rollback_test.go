package ledger

import "testing"

// TestWithdrawToOldest goes back to the oldest revision that is remembered, while another one goes out.
func TestWithdrawToOldest(t *testing.T) {
	all := events([]Event{opened}, verified(1, "a"))
	for n := int64(2); n <= MaxHistory; n++ {
		all = events(all, verified(n, "b"))
	}
	s, err := Append(State{}, noon, events(all, []Event{order(MaxHistory+1, "c"), withdraw(1, "u1"), rollBack(1)})...)
	if err != nil || s.Target != 1 || s.Stable != 1 {
		t.Errorf("\nThe target of a user is not forgotten for the revision that it ends.\nAppend(...): target %d, stable %d, %v", s.Target, s.Stable, err)
	}
}

// TestWithdrawLeavesState goes back from a state that others hold.
func TestWithdrawLeavesState(t *testing.T) {
	previous, err := Append(State{}, noon, events([]Event{opened}, verified(1, "a"), verified(2, "b"), verified(3, "c"))...)
	if err != nil {
		t.Fatal(err)
	}
	next, err := Append(previous, noon, withdraw(1, "u1"))
	if err != nil || previous.History[1].Withdrawn || !next.History[1].Withdrawn {
		t.Errorf("\nAn event changes nothing in the state that it follows from.\nAppend(...): withdrawn before %t, after %t, %v", previous.History[1].Withdrawn, next.History[1].Withdrawn, err)
	}
}
