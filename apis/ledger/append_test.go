package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

// TestRandomEvents appends random lists of events, most of which are illegal somewhere, and checks each state on its own.
func TestRandomEvents(t *testing.T) {
	rounds, random := soak.Random(t, soak.Quick(5_000, 20_000), 1_000_000)
	for range rounds {
		legal, end := appendRandom(t, random)
		if t.Failed() {
			return
		}
		if diff := cmp.Diff(end, appendGrouped(t, random, legal)); diff != "" {
			t.Fatalf("\nThe same events give the same state however they are grouped.\nAppend(...): -one by one, +in groups:\n%s", diff)
		}
	}
}

// appendRandom returns the events of a random list that were legal, and the state that they lead to.
func appendRandom(t *testing.T, random *rand.Rand) ([]Event, State) {
	t.Helper()
	s, observed, legal := State{}, &observer{}, []Event(nil)
	for range 4 + random.IntN(16) {
		e := randomEvent(random, s)
		next, err := Append(s, noon, e)
		if err != nil {
			continue
		}
		if broken := observed.check(s, e, next); broken != "" {
			t.Errorf("\n%s\nevents: %s", broken, describe(append(legal, e)))
			return legal, next
		}
		s, legal = next, append(legal, e)
	}
	return legal, s
}

// appendGrouped appends events in random groups.
func appendGrouped(t *testing.T, random *rand.Rand, legal []Event) State {
	t.Helper()
	s := State{}
	for len(legal) > 0 {
		n := 1 + random.IntN(len(legal))
		next, err := Append(s, noon, legal[:n]...)
		if err != nil {
			t.Fatalf("\nEvents that were legal one by one are legal in groups.\nAppend(...): %v", err)
		}
		s, legal = next, legal[n:]
	}
	return s
}

// randomEvent returns an event that often is legal after a state.
func randomEvent(random *rand.Rand, s State) Event {
	number := s.LastNumber + 1
	if random.IntN(8) == 0 {
		number = random.Int64N(4)
	}
	intent := string(rune('a' + random.IntN(3)))
	uid := fmt.Sprintf("u%d", random.IntN(12))
	target := max(s.LastNumber-random.Int64N(3), 0)
	all := []Event{
		{Opened: &Opened{Ledger: fmt.Sprintf("demo-%d", s.Seq), Home: "platform"}},
		order(number, intent),
		order(number, intent, byRequest(uid)),
		advance,
		verify("edge1", "edge2"),
		verify("edge1", "edge2"),
		verify("edge1"),
		reject,
		rollBack(target),
		{Restored: &Restored{}},
		withdraw(target, uid),
		promote(int32(random.IntN(3)), uid),
		stage(s.Cursor.Step, random.Int32N(6)),
		{Recovered: &Recovered{LastNumber: random.Int64N(6)}},
		{Rebased: &Rebased{Request: Request{Intent: intent, Scheme: random.Int32N(2), Renderer: random.Int32N(3)}}},
	}
	if random.IntN(20) == 0 {
		all = []Event{closed, {Moved: &Moved{Home: "other", RequestRef: requestReference(uid)}}, {}}
	}
	return all[random.IntN(len(all))]
}

// An observer remembers facts that no event may change. It decides on its own, without the guards.
type observer struct {
	verdicts map[string]Result
	requests map[string]bool
	ordered  map[int64]bool
}

// check returns the rule that the step from one state to the next one breaks.
func (o *observer) check(previous State, e Event, next State) string {
	if o.verdicts == nil {
		o.verdicts, o.requests, o.ordered = map[string]Result{}, map[string]bool{}, map[int64]bool{}
	}
	switch {
	case next.Seq != previous.Seq+1:
		return "Events are counted one by one."
	case next.Position().Compare(previous.Position()) < 0 && !next.IsClosed:
		return "A position never goes back."
	case next.LastNumber < previous.LastNumber:
		return "The last number never falls."
	case previous.Successor != "" && e.Opened == nil:
		return "Nothing follows a move."
	}
	if broken := o.checkRevision(e, next); broken != "" {
		return broken
	}
	return o.checkRequest(e)
}

func (o *observer) checkRevision(e Event, next State) string {
	if e.Ordered != nil || e.Withdrawn != nil {
		if o.ordered[next.Current.Number] {
			return "A number is used once."
		}
		o.ordered[next.Current.Number] = true
	}
	if next.Current == nil || next.Verdict == nil {
		return ""
	}
	key := fmt.Sprintf("%s/%d", next.Ledger, next.Current.Number)
	if recorded := o.verdicts[key]; recorded != "" && recorded != next.Verdict.Result {
		return "A verdict never changes."
	}
	o.verdicts[key] = next.Verdict.Result
	if e.RolledBack != nil && o.verdicts[fmt.Sprintf("%s/%d", next.Ledger, next.Target)] != VerdictVerified {
		return "A rollback goes to a verified revision."
	}
	return ""
}

func (o *observer) checkRequest(e Event) string {
	r := requestOf(e)
	if r == nil {
		return ""
	}
	if o.requests[r.UID] {
		return "A RolloutRequest takes effect once."
	}
	o.requests[r.UID] = true
	return ""
}

func requestOf(e Event) *RequestReference {
	switch {
	case e.Ordered != nil:
		return e.Ordered.Revision.RequestRef
	case e.Withdrawn != nil:
		return &e.Withdrawn.RequestRef
	case e.Promoted != nil:
		return &e.Promoted.RequestRef
	case e.Moved != nil:
		return &e.Moved.RequestRef
	}
	return nil
}

func describe(events []Event) string {
	b, err := json.Marshal(events)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestNextID(t *testing.T) {
	list := events([]Event{opened}, verified(1, "a"))
	s, err := Append(State{}, noon, list...)
	if err != nil {
		t.Fatal(err)
	}
	later, err := Append(State{}, noon.Add(time.Hour), list...)
	if err != nil {
		t.Fatal(err)
	}
	id, err := NextID("", list...)
	if err != nil {
		t.Fatal(err)
	}
	if id != s.ID || id != later.ID {
		t.Errorf("\nThe same events have one ID whenever they are recorded.\nNextID(...): %q, Append(...): %q, an hour later %q", id, s.ID, later.ID)
	}
	otherID, err := NextID("", events([]Event{opened}, verified(1, "b"))...)
	if err != nil {
		t.Fatal(err)
	}
	if otherID == id {
		t.Errorf("\nOther events have another ID.\nNextID(...): %q twice", id)
	}
}
