package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecovered continues a ledger from copies.
func TestRecovered(t *testing.T) {
	whole, err := Append(State{}, noon, events([]Event{opened}, verified(1, "a"), []Event{order(2, "b"), reject, rollBack(1)})...)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		before []Event
		copied State
		want   Position
	}{
		"Same": {
			reason: "An older state of the same ledger is recovered from a newer copy.",
			before: []Event{opened, order(1, "a")}, copied: whole, want: Position{Epoch: 2, Revision: 2, Attempt: 1},
		},
		"Other": {
			reason: "A ledger that was opened again after a loss is recovered from a copy of the previous ledger.",
			before: []Event{{Opened: &Opened{Ledger: "again", Home: "platform"}}}, copied: whole.Essentials(),
			want: Position{Epoch: 2, Revision: 2, Attempt: 1},
		},
		"Forgotten": {
			reason: "The number of a revision that only the ledger knows is not used again.",
			before: events([]Event{opened}, verified(1, "a"), verified(2, "b"), verified(3, "c")),
			copied: State{Head: Head{Ledger: "other", Epoch: 4, Seq: 1}, LastNumber: 1, Current: whole.Current},
			want:   Position{Epoch: 5, Revision: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state, err := Append(State{}, noon, tc.before...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Apply(state, Event{Recovered: &Recovered{Copy: tc.copied}})
			if err != nil {
				t.Fatalf("\n%s\nApply(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.Position()); diff != "" {
				t.Errorf("\n%s\nPosition(): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Ledger != state.Ledger || got.Home != state.Home || got.LastNumber < state.LastNumber || got.Position().Compare(state.Position()) < 0 {
				t.Errorf("\nA recovered ledger keeps its identity, its home and its numbers, and goes on.\nApply(...): got %+v", got)
			}
		})
	}
}
