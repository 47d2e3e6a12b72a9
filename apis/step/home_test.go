package step

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// kinds describes events by their kinds.
func kinds(list []ledger.Event) []string {
	var out []string
	for _, e := range list {
		switch {
		case e.Opened != nil:
			out = append(out, "Opened "+e.Opened.Home)
		case e.Recovered != nil:
			requester := ""
			if r := e.Recovered.RequestRef; r != nil {
				requester = " by " + r.Name
			}
			out = append(out, "Recovered "+e.Recovered.Copy.Ledger+requester)
		}
	}
	return out
}

func TestFindHome(t *testing.T) {
	opened := func(identity, home string, added ...ledger.Event) ledger.State {
		s, err := ledger.Append(ledger.State{}, recordedAt, append([]ledger.Event{{Opened: &ledger.Opened{Ledger: identity, Home: home}}}, added...)...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	user := ledger.RequestReference{Name: "move", UID: "m"}
	moved := opened("one", "a", ordered(1, "x"), ledger.Event{Moved: &ledger.Moved{Home: "b", RequestRef: user}})
	closed := opened("one", "a", ordered(1, "x"), ledger.Event{Closed: &ledger.Closed{}})
	short, long := opened("one", "a"), opened("one", "a", ordered(1, "x"))
	moveTo := func(home, name string, change ...func(*Request)) Request {
		r := Request{Ref: ledger.RequestReference{Name: name, UID: name}, Action: ActionMoveLedger, Revision: 1, ToConfigRef: home, Force: true}
		for _, c := range change {
			c(&r)
		}
		return r
	}
	aboutRevision := func(revision int64) func(*Request) { return func(r *Request) { r.Revision = revision } }
	saw := func(digest string) func(*Request) { return func(r *Request) { r.Digest = digest } }
	force := []Request{moveTo("b", "move")}
	back := []Request{moveTo("a", "back")}
	two := append(slices.Clone(force), moveTo("c", "again"))
	next := opened("one", "a", ordered(1, "x"), ordered(2, "y"))
	unreachable := []Repository{{ConfigRef: "a"}, {ConfigRef: "b", IsKnown: true, Copy: next}, {ConfigRef: "c", IsKnown: true}}
	away, requestDigest := Home{ConfigRef: "a"}, next.Current.Request.Digest()
	recorded := opened("one", "b", ordered(1, "x"))
	recorded.Requests = []string{"again"}
	cases := map[string]struct {
		reason   string
		all      []Repository
		requests []Request
		want     Home
		events   []string
	}{
		"New": {
			reason: "A deployment without any repository opens its ledger in the preferred one.",
			want:   Home{ConfigRef: "a", IsKnown: true}, events: []string{"Opened a"},
		},
		"Unknown": {
			reason: "A home that was not read yet begins nothing.",
			all:    []Repository{{ConfigRef: "a"}}, want: Home{ConfigRef: "a"},
		},
		"NotThere": {
			reason: "A home without an object begins nothing, where another repository has one.",
			all:    []Repository{{ConfigRef: "b", IsKnown: true}}, want: Home{ConfigRef: "a"},
		},
		"None": {
			reason: "A home that reports that it has no ledger opens one.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true}}, want: Home{ConfigRef: "a", IsKnown: true}, events: []string{"Opened a"},
		},
		"TwoLedgers": {
			reason: "Of two ledgers of one epoch the longer one is continued in its home.",
			all:    []Repository{{ConfigRef: "b", IsKnown: true, Ledger: long}, {ConfigRef: "a", IsKnown: true, Ledger: opened("two", "a")}},
			want:   Home{ConfigRef: "a", IsKnown: true, State: opened("two", "a")}, events: []string{"Recovered one"},
		},
		"CopyNamesHome": {
			reason: "A follower's record names a home whose object was lost.",
			all:    []Repository{{ConfigRef: "c", IsKnown: true, Copy: opened("one", "b")}}, want: Home{ConfigRef: "b"},
		},
		"LostState": {
			reason: "A home that lost its ledger continues from the copy of a follower.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true}, {ConfigRef: "b", IsKnown: true, Copy: long}},
			want:   Home{ConfigRef: "a", IsKnown: true}, events: []string{"Opened a", "Recovered one"},
		},
		"OldBackup": {
			reason: "A home that was restored from an old backup continues from the newer copy of a follower.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true, Ledger: short}, {ConfigRef: "b", IsKnown: true, Copy: long}},
			want:   Home{ConfigRef: "a", IsKnown: true, State: short}, events: []string{"Recovered one"},
		},
		"FollowerBehind": {
			reason: "A follower that is behind changes nothing.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true, Ledger: long}, {ConfigRef: "b", IsKnown: true, Copy: short}},
			want:   Home{ConfigRef: "a", IsKnown: true, State: long},
		},
		"Moved": {
			reason: "A ledger that moved is opened in its next home with its last state.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true, Ledger: moved}, {ConfigRef: "b", IsKnown: true}},
			want:   Home{ConfigRef: "b", IsKnown: true}, events: []string{"Opened b", "Recovered one"},
		},
		"Forced": {
			reason: "A user moves a ledger whose home cannot be reached.",
			all:    []Repository{{ConfigRef: "a"}, {ConfigRef: "b", IsKnown: true, Copy: long}}, requests: force,
			want: Home{ConfigRef: "b", IsKnown: true}, events: []string{"Opened b", "Recovered one by move"},
		},
		"ForcedBack": {
			reason: "A ledger that moved, and was never opened there, is opened again where it was and continues from its own end.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true, Ledger: moved}, {ConfigRef: "b"}}, requests: back,
			want: Home{ConfigRef: "a", IsKnown: true, State: moved}, events: []string{"Opened a", "Recovered one by back"},
		},
		"ForcedTwice": {
			reason: "Of two forced moves the newer one counts, since the home that the older one names may be gone.",
			all:    []Repository{{ConfigRef: "a"}, {ConfigRef: "b"}, {ConfigRef: "c", IsKnown: true, Copy: long}}, requests: two,
			want: Home{ConfigRef: "c", IsKnown: true}, events: []string{"Opened c", "Recovered one by again"},
		},
		"ForcedEarlier": {
			reason: "A forced move of a user who saw an earlier revision moves nothing.",
			all:    unreachable, requests: []Request{moveTo("b", "move")}, want: away,
		},
		"ForcedLater": {
			reason: "A forced move that names a revision that does not exist moves nothing.",
			all:    unreachable, requests: []Request{moveTo("b", "move", aboutRevision(4))}, want: away,
		},
		"ForcedProposed": {
			reason: "A forced move may name the revision that the home was to record last, with any digests.",
			all:    unreachable, requests: []Request{moveTo("b", "move", aboutRevision(3), saw("sha256:0"))}, want: Home{ConfigRef: "b", IsKnown: true},
			events: []string{"Opened b", "Recovered one by move"},
		},
		"ForcedOtherDigest": {
			reason: "A forced move of a user who saw other digests moves nothing.",
			all:    unreachable, requests: []Request{moveTo("b", "move", aboutRevision(2), saw("sha256:0"))}, want: away,
		},
		"ForcedSameDigest": {
			reason: "A forced move of a user who saw the digests of the revision moves the ledger.",
			all:    unreachable, requests: []Request{moveTo("b", "move", aboutRevision(2), saw(requestDigest))}, want: Home{ConfigRef: "b", IsKnown: true},
			events: []string{"Opened b", "Recovered one by move"},
		},
		"ForcedStaleAfter": {
			reason: "A forced move about another revision does not take the place of an older one about the current revision.",
			all:    unreachable, requests: []Request{moveTo("b", "move", aboutRevision(2)), moveTo("c", "again")}, want: Home{ConfigRef: "b", IsKnown: true},
			events: []string{"Opened b", "Recovered one by move"},
		},
		"ForcedTakenAfter": {
			reason: "An older forced move moves nothing once a newer one took effect, although that one saw other digests.",
			all:    []Repository{{ConfigRef: "a"}, {ConfigRef: "b", IsKnown: true, Ledger: recorded}}, want: Home{ConfigRef: "b", IsKnown: true, State: recorded},
			requests: []Request{moveTo("a", "move"), moveTo("b", "again", saw("sha256:0"))},
		},
		"ForcedUnordered": {
			reason: "A ledger without a revision moves by force: its user could name none.",
			all:    []Repository{{ConfigRef: "a"}, {ConfigRef: "b", IsKnown: true, Copy: short}}, requests: force,
			want: Home{ConfigRef: "b", IsKnown: true}, events: []string{"Opened b", "Recovered one by move"},
		},
		"Deleted": {
			reason: "A deployment with the name of a deleted one opens a ledger of its own.",
			all:    []Repository{{ConfigRef: "a", IsKnown: true, Ledger: closed}}, want: Home{ConfigRef: "a", IsKnown: true, State: closed},
			events: []string{"Opened a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := FindHome(tc.all, "a", func(home string) string { return "new in " + home }, tc.requests)
			if diff := cmp.Diff(tc.events, kinds(got.Events)); diff != "" {
				t.Errorf("\n%s\nFindHome(...): -want events, +got events:\n%s", tc.reason, diff)
			}
			if _, err := ledger.Append(got.State, recordedAt, got.Events...); err != nil {
				t.Errorf("\n%s\nFindHome(...): the events are illegal: %v", tc.reason, err)
			}
			got.Events = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFindHome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNewestCopy compares the copies of a ledger in repositories.
func TestNewestCopy(t *testing.T) {
	stateAt := func(seq int64, history ...int64) ledger.State {
		s := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: seq}}
		for _, n := range history {
			s.History = append(s.History, ledger.Past{Number: n})
		}
		return s
	}
	cases := map[string]struct {
		reason string
		all    []Repository
		want   ledger.State
	}{
		"Nothing": {reason: "Where no repository has one, there is none."},
		"Whole": {
			reason: "A ledger counts before a copy of it, which has less of the history.",
			all:    []Repository{{Ledger: stateAt(3, 1, 2)}, {Copy: stateAt(3, 2)}}, want: stateAt(3, 1, 2),
		},
		"Copy": {
			reason: "A copy that is newer than the ledger counts.",
			all:    []Repository{{Ledger: stateAt(3, 1, 2)}, {Copy: stateAt(4, 2)}}, want: stateAt(4, 2),
		},
		"Older": {reason: "An older copy does not count.", all: []Repository{{Ledger: stateAt(3, 1, 2)}, {Copy: stateAt(2)}}, want: stateAt(3, 1, 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewestCopy(tc.all)); diff != "" {
				t.Errorf("\n%s\nNewestCopy(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
