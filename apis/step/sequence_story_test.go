package step

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// patienceTicks is how long a sequence waits for a condition.
const patienceTicks = 400

// A sequence plays one course of a canary on the canary model, in which nothing fails but by the sequence: one Site, with all the checks of
// random stories. A second passes in each tick.
type sequence struct {
	*testing.T

	*canaryModel

	// verdict of Gates that are measured from now on.
	verdict string
}

// newSequence begins with revision 1 verified in track blue. It has content a, and four pods.
func newSequence(t *testing.T, plan string) *sequence {
	t.Helper()
	q := &sequence{T: t, canaryModel: newCanaryModelOf(rand.New(rand.NewPCG(1, 17)), allCanaryRules, 1, []string{"edge1"}), verdict: "Passed"}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("\n%s", q.canaryModel)
		}
	})
	q.spec.steps = planOf(t, plan)
	q.ends(1, ledger.VerdictVerified)
	return q
}

// planOf reads steps as in "0 5/10s 20+gate/Manual 100": weights, each with its Gate and its pause. "full" gives them all pods.
func planOf(t *testing.T, text string) []ledger.Step {
	t.Helper()
	var out []ledger.Step
	rest, isFull := strings.CutPrefix(text, "full ")
	for field := range strings.FieldsSeq(rest) {
		field, pause, _ := strings.Cut(field, "/")
		weight, isGated := strings.CutSuffix(field, "+gate")
		percent, err := strconv.ParseInt(weight, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ledger.Step{Weight: new(int32(percent)), Gate: isGated, Pause: pause})
	}
	for i := range out[:len(out)-1] {
		out[i].Ahead = out[i+1].Weight
		if isFull {
			out[i].Ahead = new(int32(100))
		}
	}
	return out
}

// tickOnce lets each part do its work, and a second pass.
func (q *sequence) tickOnce() {
	q.Helper()
	always := func() bool { return true }
	q.call(q.view(), always)
	for i := range q.deliveries {
		q.deliver(i, false)
	}
	for _, s := range q.sites {
		s.fetch()
		s.apply()
	}
	q.observe()
	if q.sync.proven == q.gate.position && q.sync.live && q.gate.result == "" {
		q.giveVerdict(q.verdict)
	}
	q.tick()
	if q.truth.broken != "" {
		q.Fatal(q.truth.broken)
	}
}

func (q *sequence) pass(seconds int) {
	q.Helper()
	for range seconds {
		q.tickOnce()
	}
}

// until lets time pass until something is so, and returns how many seconds that took.
func (q *sequence) until(description string, condition func() bool) int {
	q.Helper()
	began := q.now
	for !condition() {
		if q.now-began > patienceTicks {
			q.Fatalf("waited in vain for: %s", description)
		}
		q.tickOnce()
	}
	return q.now - began
}

// stays lets time pass, in which something is always so.
func (q *sequence) stays(description string, seconds int, condition func() bool) {
	q.Helper()
	for range seconds {
		q.tickOnce()
		if !condition() {
			q.Fatalf("it was wanted to stay: %s", description)
		}
	}
}

// edge returns the only Site.
func (q *sequence) edge() *canarySite { return q.sites[0] }

// reaches waits until the requests are divided: so many percent go to a revision.
func (q *sequence) reaches(revision int64, weight int32) int {
	q.Helper()
	return q.until(fmt.Sprintf("revision %d gets %d percent", revision, weight), func() bool { return q.shareOf(revision) == weight })
}

// shareOf returns how many percent of the requests go to a revision.
func (q *sequence) shareOf(revision int64) int32 {
	for t, f := range q.edge().applied {
		if f.Revision == revision {
			return q.edge().effective[t]
		}
	}
	return 0
}

// holds waits until the revision waits, and returns the seconds that took.
func (q *sequence) holds(want Hold) int {
	q.Helper()
	return q.until("the revision waits: "+string(want), func() bool { return q.hold() == want })
}

func (q *sequence) hold() Hold {
	v := q.view()
	_, s := q.propose(v, q.home)
	_, holds := Step(s, q.input(v, q.home, s))
	return holds.Progress
}

// ends waits until a revision has its verdict and all is at rest, and returns the seconds that took.
func (q *sequence) ends(revision int64, want ledger.Result) int {
	q.Helper()
	return q.until(fmt.Sprintf("revision %d is %s, and all is at rest", revision, want), func() bool {
		return q.home.Current != nil && q.home.Current.Number == revision && q.home.Verdict != nil && q.home.Verdict.Result == want && q.atRest() == ""
	})
}

// edits changes the content of the spec, and waits until that is a revision.
func (q *sequence) edits(content string) {
	q.Helper()
	next := int64(1)
	if q.home.Current != nil {
		next = q.home.Current.Number + 1
	}
	q.spec.content = content
	q.until(fmt.Sprintf("revision %d begins", next), func() bool { return q.home.Current != nil && q.home.Current.Number == next })
}

// asks makes a request about the current revision, and returns it.
func (q *sequence) asks(r Request) Request {
	q.uids++
	r.Ref = ledger.RequestReference{Name: "request", UID: fmt.Sprint("u", q.uids)}
	r.Revision, r.CreatedAt = q.home.Current.Number, q.time()
	q.requests = append(q.requests, r)
	return r
}

// promotes releases the step that waits.
func (q *sequence) promotes() { q.asks(Request{Action: ActionPromote, Step: q.home.Cursor.Step + 1}) }

// answer returns the result of a request.
func (q *sequence) answer(r Request) Result {
	v := q.view()
	return ResultOf(q.home, q.input(v, q.home, q.home), r)
}

// equals compares two values.
func (q *sequence) equals(description string, got, want any) {
	q.Helper()
	if got != want {
		q.Fatalf("%s: want %v, got %v", description, want, got)
	}
}

// podsOf counts the pods of a content that are not dying.
func (q *sequence) podsOf(content string) int {
	n := 0
	for _, p := range q.edge().pods {
		if p.build.Content == content && !p.dying {
			n++
		}
	}
	return n
}

// madeOf counts the pods of a content that were ever made.
func (q *sequence) madeOf(content string) int {
	return q.edge().made[ledger.TrackBlue+content] + q.edge().made[ledger.TrackGreen+content]
}

// tracks returns the tracks of the directory, as text.
func (q *sequence) tracks() string {
	return strings.Join(slices.Sorted(maps.Keys(q.edge().git)), " ")
}

// elapsed reads a duration as ticks.
func elapsed(text string) int {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return int(d.Seconds())
}

// TestClearBeforePlace goes back, in the middle of a canary, to a revision in the track of the stable one: its pods cannot come beside the pods of both, so
// that the latter are replaced in place, once they have all requests.
func TestClearBeforePlace(t *testing.T) {
	q := newSequence(t, "0 50/5s 100")
	for i, content := range []string{"b", "c"} {
		q.edits(content)
		q.ends(int64(i+2), ledger.VerdictVerified)
	}
	q.spec.steps = planOf(t, "0 50/Manual 100")
	q.edits("d")
	q.reaches(4, 50)
	q.asks(Request{Action: ActionRollbackTo, ToRevision: 1})
	q.until("revision 1 is restored", func() bool { return q.home.Restored && q.atRest() == "" })
	q.equals("tracks", q.tracks(), ledger.TrackBlue)
	q.equals("pods of a", q.podsOf("a"), 4)
}

// TestEditWithBrokenPods edits a move in the middle, whose pods without tracks were never ready: the requests cannot go back to these. They stay with the track,
// and the next revision replaces its pods one by one.
func TestEditWithBrokenPods(t *testing.T) {
	q := &sequence{T: t, canaryModel: newCanaryModelOf(rand.New(rand.NewPCG(1, 19)), allCanaryRules, 1, []string{"edge1"}), verdict: "Passed"}
	q.spec.content, q.spec.isPlain, q.spec.steps = "z", true, planOf(t, "0 100+gate")
	q.ends(1, ledger.VerdictVerified)
	q.spec.isPlain, q.verdict = false, ""
	q.edits("b")
	q.reaches(2, 100)
	q.edits("c")
	q.verdict = "Passed"
	q.ends(3, ledger.VerdictVerified)
	q.equals("tracks", q.tracks(), ledger.TrackBlue)
	q.equals("pods of c", q.podsOf("c"), 4)
}

// TestEditBackWithBrokenPods edits a move back to a Blueprint without tracks, whose previously serving pods were never ready. The requests stay with the track
// until the pods of the edit are there, also where the pods of a first edit never are.
func TestEditBackWithBrokenPods(t *testing.T) {
	cases := map[string]struct {
		reason string
		then   func(q *sequence)
		last   int64
	}{
		"Rejected": {
			reason: "An edit follows a rejected move once its rollback has failed.", last: 3,
			then: func(q *sequence) { q.verdict = "Failed"; q.wantsPlain("c") },
		},
		"Aborted": {
			reason: "An edit follows a move that was given up.", last: 3,
			then: func(q *sequence) { q.asks(Request{Action: ActionAbort}); q.wantsPlain("c") },
		},
		"Held": {
			reason: "An edit follows a move whose Gate came to no verdict.", last: 3,
			then: func(q *sequence) { q.verdict = "Held"; q.wantsPlain("c") },
		},
		"BrokenAgain": {
			reason: "An edit whose pods are broken, too, takes no requests, is rejected and replaced.", last: 4,
			then: func(q *sequence) {
				q.verdict = "Failed"
				q.wantsPlain("yz")
				q.until("the edit is rejected", func() bool { return q.home.Current.Number == 3 && q.home.IsRejected() })
				q.wantsPlain("c")
			},
		},
		"EditedAgain": {
			reason: "An edit takes the place of an edit whose pods do not come.", last: 4,
			then: func(q *sequence) {
				q.verdict = "Failed"
				q.wantsPlain("yz")
				q.until("the pods of the edit are asked for", func() bool { return q.edge().git[ledger.TrackPlain].Revision == 3 })
				q.wantsPlain("c")
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := &sequence{T: t, canaryModel: newCanaryModelOf(rand.New(rand.NewPCG(1, 19)), allCanaryRules, 1, []string{"edge1"}), verdict: "Passed"}
			q.spec.content, q.spec.isPlain, q.spec.steps = "z", true, planOf(t, "0 100+gate")
			q.ends(1, ledger.VerdictVerified)
			q.spec.isPlain, q.verdict = false, ""
			q.edits("b")
			q.reaches(2, 100)
			tc.then(q)
			q.until("the edit begins", func() bool { return q.home.Current.Number == tc.last })
			q.equals(tc.reason+" Share of the track", q.shareOf(2), int32(100))
			q.verdict = "Passed"
			q.ends(tc.last, ledger.VerdictVerified)
			q.equals("tracks", q.tracks(), ledger.TrackPlain)
			q.equals("pods of c", q.podsOf("pc"), 4) // Contents without tracks begin with p.
		})
	}
}

// wantsPlain asks for a Blueprint without tracks.
func (q *sequence) wantsPlain(content string) { q.spec.content, q.spec.isPlain = content, true }

// TestBreachInTimedPause lets a Gate fail shortly before a pause with a duration ends: its measurements count until the step is released.
func TestBreachInTimedPause(t *testing.T) {
	q := newSequence(t, "0 20+gate/60s 100")
	q.edits("b")
	q.holds(HoldPaused)
	q.stays("revision 2 pauses", elapsed("50s"), func() bool { return q.hold() == HoldPaused })
	q.giveVerdict("Failed")
	q.until("revision 2 is rejected", func() bool { return q.home.IsRejected() })
	q.equals("step", q.home.Cursor.Step, int32(1))
	q.ends(2, ledger.VerdictRejected)
}
