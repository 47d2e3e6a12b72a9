package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBoundedState appends more than a state remembers.
func TestBoundedState(t *testing.T) {
	s, err := Append(State{}, noon, events([]Event{opened}, verified(1, "good"))...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3 * MaxRequests) {
		intent := fmt.Sprintf("bad-%d", i)
		if s, err = Append(s, noon, order(i+2, intent, byRequest(intent)), reject, rollBack(1)); err != nil {
			t.Fatalf("\nThe stable revision is remembered whatever follows.\nAppend(...): %v", err)
		}
	}
	if len(s.History) != MaxHistory+1 || len(s.Requests) != MaxRequests || s.Stable != 1 {
		t.Errorf("\nA state remembers the last revisions, the stable one and the last requests.\nAppend(...): got %d revisions, %d requests, stable %d", len(s.History), len(s.Requests), s.Stable)
	}
	if got := s.Essentials().History; len(got) != 1 || got[0].Number != 1 {
		t.Errorf("\nA copy has the revision that a rollback restores.\nEssentials(): got %v", got)
	}
}

// TestBoundedTrees verifies more revisions than a state has room for the trees of.
func TestBoundedTrees(t *testing.T) {
	sites := make([]string, MaxSites)
	for i := range sites {
		sites[i] = fmt.Sprintf("edge%03d", i)
	}
	revision := func(number int64) []Event {
		o := order(number, fmt.Sprintf("intent-%d", number))
		o.Ordered.Revision.Plan = []Step{{Sites: sites}}
		o.Ordered.Revision.Parts[0].Sites = sites
		return []Event{o, verify(sites...)}
	}
	list := events([]Event{opened}, revision(1), revision(2))
	s, err := Append(State{}, noon, list...)
	if err != nil {
		t.Fatal(err)
	}
	if got := targetNumbers(s); !slices.Equal(got, []int64{2, 1}) {
		t.Fatalf("\nThe trees of two revisions with as many Sites as there may be have room.\nTargets(): got %v", got)
	}
	s, err = Append(s, noon, events(revision(3))...)
	if err != nil {
		t.Fatal(err)
	}
	if got := targetNumbers(s); !slices.Equal(got, []int64{3, 2}) || s.Stable != 3 || !s.History[0].TreesDropped {
		t.Fatalf("\nThe oldest revision loses its trees first.\nTargets(): got %v, stable %d", got, s.Stable)
	}
	s, err = Append(s, noon, append([]Event{withdraw(2, "u1")}, revision(5)...)...)
	if err != nil {
		t.Fatal(err)
	}
	if got := targetNumbers(s); !slices.Equal(got, []int64{5, 2}) {
		t.Errorf("\nA revision that was withdrawn loses its trees before a rollback target.\nTargets(): got %v", got)
	}
	tooMany := order(6, "many")
	tooMany.Ordered.Revision.Plan = []Step{{Sites: append(slices.Clone(sites), "one-more")}}
	tooMany.Ordered.Revision.Parts[0].Sites = tooMany.Ordered.Revision.Plan[0].Sites
	if _, err := Append(s, noon, tooMany); err == nil {
		t.Error("\nThe number of Sites of a plan is limited.\nAppend(...): got no error")
	}
}

func targetNumbers(s State) []int64 {
	var out []int64
	for _, p := range s.Targets() {
		out = append(out, p.Number)
	}
	return out
}

// TestForgottenRevisions verifies more revisions than a state remembers.
func TestForgottenRevisions(t *testing.T) {
	s, err := Append(State{}, noon, opened)
	for n := int64(1); n <= MaxHistory+1 && err == nil; n++ {
		s, err = Append(s, noon, verified(n, "good")...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.History); n != MaxHistory || s.History[0].Number != 2 || s.Stable != MaxHistory+1 {
		t.Errorf("\nWhere the stable revision is the newest one, the oldest ones are forgotten.\nAppend(...): got %d revisions from %d on, stable %d", n, s.History[0].Number, s.Stable)
	}
}

// TestDropTrees has more trees than there is room for.
func TestDropTrees(t *testing.T) {
	trees := make([]SiteTree, MaxTrees)
	verifiedPast := func(number int64) Past {
		return Past{Number: number, Verdict: &Verdict{Result: VerdictVerified}, Trees: trees}
	}
	cases := map[string]struct {
		reason string
		state  State
		// want is how many trees each revision keeps, the oldest first.
		want []int
	}{
		"Room": {reason: "Trees that there is room for stay.", state: State{Stable: 1, History: []Past{verifiedPast(1)}}, want: []int{MaxTrees}},
		"Oldest": {
			reason: "The oldest revision loses its trees first.",
			state:  State{Stable: 2, History: []Past{verifiedPast(1), verifiedPast(2)}}, want: []int{0, MaxTrees},
		},
		"Both": {
			reason: "The stable revision and the target of a rollback keep their trees, although both exceed the limit.",
			state:  State{Stable: 3, Target: 1, History: []Past{verifiedPast(1), verifiedPast(2), verifiedPast(3)}}, want: []int{MaxTrees, 0, MaxTrees},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, p := range tc.state.dropExcessTrees().History {
				got = append(got, len(p.Trees))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndropTrees(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDropNoTrees needs room for trees where a revision has none.
func TestDropNoTrees(t *testing.T) {
	s := State{History: []Past{{Number: 1}, {Number: 2, Trees: make([]SiteTree, MaxTrees+1)}}}.dropExcessTrees()
	if s.History[0].TreesDropped || !s.History[1].TreesDropped {
		t.Errorf("\nA revision that had no trees has lost none.\ndropTrees(): got %t, %t", s.History[0].TreesDropped, s.History[1].TreesDropped)
	}
}

// TestEssentials copies a ledger for a follower.
func TestEssentials(t *testing.T) {
	s := State{Stable: 3, Target: 1, History: []Past{{Number: 1}, {Number: 2}, {Number: 3}, {Number: 4}}}
	if diff := cmp.Diff([]Past{{Number: 1}, {Number: 3}}, s.Essentials().History); diff != "" {
		t.Errorf("\nA copy has the revisions that a rollback restores, and no others.\nEssentials(): -want, +got:\n%s", diff)
	}
	if len(s.History) != 4 {
		t.Errorf("\nA copy leaves the ledger as it is.\nEssentials(): left %d revisions", len(s.History))
	}
}
