package step

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// maxEvents is how many events one call may lead to before nothing follows, with any input.
const maxEvents = 4

// TestEachEventIsLegal plays random stories. Each event that follows from a state may be recorded on top of it, and after a few of them none
// follows any more.
func TestEachEventIsLegal(t *testing.T) {
	rounds, first := soak.Seed(t, soak.Quick(5_000, 20_000), 1_000_000)
	for seed := first; seed < first+uint64(rounds); seed++ {
		r := &story{random: rand.New(rand.NewPCG(seed, 14))}
		if err := r.play(30); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

type story struct {
	random *rand.Rand
	s      ledger.State
	calls  int
}

func (r *story) play(calls int) error {
	s, err := ledger.Append(r.s, recordedAt, ledger.Event{Opened: &ledger.Opened{Ledger: "a", Home: "home"}})
	if err != nil {
		return err
	}
	r.s = s
	for r.calls = range calls {
		if err := r.call(); err != nil {
			return err
		}
	}
	return nil
}

// call records the events that follow from a random input, as a call of the function does. The proof is about the previous position.
func (r *story) call() error {
	in := r.input()
	for n := 0; ; n++ {
		if err := r.checkParts(in); err != nil {
			return err
		}
		e, holds := Step(r.s, in)
		if e == nil {
			return nil
		}
		if holds != (Holds{}) {
			return errors.Errorf("event %s and holds %v follow at once", event(e), holds)
		}
		if n == maxEvents {
			return errors.Errorf("more than %d events follow at once, at last %s", maxEvents, event(e))
		}
		s, err := ledger.Append(r.s, at(r.calls*r.random.IntN(40)), *e)
		if err != nil {
			return errors.Wrapf(err, "call %d", r.calls)
		}
		r.s, in.Proof = s, Proof{}
		if in.Desired != nil {
			in.Desired.AdoptEnabled, in.Desired.HasSameTrees = false, true
		}
	}
}

// checkParts checks who makes which event: Begin makes the events that need the spec, and Conclude all others. Once a revision is rejected, Conclude says the same
// while the spec cannot be compiled: a rollback needs nothing of it.
func (r *story) checkParts(in Input) error {
	begun, _ := Begin(r.s, in)
	if begun != nil && begun.Ordered == nil && begun.Rebased == nil && begun.Moved == nil {
		return errors.Errorf("call %d: Begin makes %s", r.calls, event(begun))
	}
	concluded, hold := Conclude(r.s, in)
	if concluded != nil && (concluded.Ordered != nil || concluded.Rebased != nil || concluded.Moved != nil) {
		return errors.Errorf("call %d: Conclude makes %s", r.calls, event(concluded))
	}
	if chosen := ChooseRequest(r.s, in); begun != nil && chosen != nil && chosen.Action.actsOnCurrent() {
		return errors.Errorf("call %d: Begin makes %s before the request that Conclude takes: %s", r.calls, event(begun), chosen.Action)
	}
	if !r.s.IsRejected() {
		return nil
	}
	in.Desired, in.HoldsFiles, in.HasUpdate, in.IsBlueprintGone = nil, false, false, true
	concludedAlone, holdWithout := Conclude(r.s, in)
	if !cmp.Equal(concluded, concludedAlone) || hold != holdWithout {
		return errors.Errorf("call %d: Conclude makes %s (%s), and without the spec %s (%s)", r.calls, event(concluded), hold, event(concludedAlone), holdWithout)
	}
	return nil
}

func (r *story) chance(percent int) bool { return r.random.IntN(100) < percent }

func (r *story) input() Input {
	in := Input{
		Versions: Versions{Scheme: 1, Renderer: int32(1 + r.random.IntN(3))}, IsSuspended: r.chance(10), HasAllReported: r.chance(80),
		IsBlueprintGone: r.chance(5), HasUpdate: r.chance(30), HasEnded: r.chance(30),
		Policy: Policy{AutoRollback: r.chance(80), MaxRetries: int32(r.random.IntN(3)), MaxPerHour: int32(r.random.IntN(3))},
		Proof:  r.proof(),
	}
	if r.chance(85) {
		in.Desired = r.desired(in.Versions.Renderer)
	}
	for _, site := range []string{"edge1", "edge2", "edge3"} {
		in.Directories = append(in.Directories, Directory{
			Site: site, IsChosen: r.chance(90), IsKnown: r.chance(90), Tree: string(rune('a' + r.random.IntN(4))), Revision: r.s.LastNumber,
		})
	}
	for range r.random.IntN(3) {
		in.Requests = append(in.Requests, r.request())
	}
	return in
}

func (r *story) desired(renderer int32) *Desired {
	plans := [][]ledger.Step{
		{{Sites: []string{"edge1", "edge2"}}},
		{{Sites: []string{"edge1"}, Pause: ledger.PauseManual}, {Sites: []string{"edge2"}, Gate: true}},
		{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}, Gate: true, Pause: ledger.PauseManual}, {Sites: []string{"edge3"}}},
	}
	d := &Desired{
		Request: ledger.Request{
			Intent: string(rune('a' + r.random.IntN(4))), Sources: string(rune('s' + r.random.IntN(2))), Scheme: 1, Renderer: renderer,
		},
		Plan:         plans[r.random.IntN(len(plans))],
		Parts:        []ledger.Part{{Delivery: "d", ConfigRef: "home", Sites: []string{"edge1", "edge2", "edge3"}}},
		HasSameTrees: r.chance(20), AdoptEnabled: r.chance(10), AwaitsCluster: r.chance(10), VerdictIsComing: r.chance(20),
	}
	if r.chance(30) {
		d.RendererHold = HoldRendererWaits
	}
	if r.chance(30) {
		d.ReadMarks = func() (string, bool) { return string(rune('m' + r.random.IntN(2))), r.chance(20) }
	}
	if r.chance(5) {
		d.ApprovedBy = &ledger.RequestReference{Name: "approve", UID: fmt.Sprint(r.random.IntN(40))}
	}
	return d
}

func (r *story) proof() Proof {
	p := Proof{IsLive: r.chance(60), HasPassed: r.chance(60), AwaitsCluster: r.chance(5)}
	if r.chance(20) {
		v := rejection([]string{"SyncFailed", ledger.RejectedDelivery}[r.random.IntN(2)])
		p.Failure = &v
	}
	if r.s.Current != nil {
		for _, step := range r.s.Current.Plan {
			for _, site := range step.Sites {
				p.Trees = append(p.Trees, ledger.SiteTree{Site: site, ID: r.s.Current.Request.Intent})
			}
		}
	}
	return p
}

func (r *story) request() Request {
	actions := actionsInOrder()
	return Request{
		Ref:    ledger.RequestReference{Name: "r", UID: fmt.Sprint(r.random.IntN(40))},
		Action: actions[r.random.IntN(len(actions))], Revision: r.s.LastNumber - int64(r.random.IntN(2)),
		ToRevision: r.s.LastNumber - int64(r.random.IntN(3)), Step: int32(r.random.IntN(4)),
		CreatedAt:    recordedAt.Add(time.Duration(r.random.IntN(90)) * time.Minute),
		UpdateResult: append(make([]Result, 7), ResultStale, ResultUpdateFailed, ResultWaiting)[r.random.IntN(10)],
	}
}

// BenchmarkStep decides about a revision with 20 steps and 500 Sites that is rolled back. It prints step_us.
func BenchmarkStep(b *testing.B) {
	s, in := largeRollback(b)
	for b.Loop() {
		if e, _ := Step(s, in); e == nil || e.RolledBack == nil {
			b.Fatal("the revision is not rolled back")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "step_us")
}

func largeRollback(b *testing.B) (ledger.State, Input) {
	b.Helper()
	d, trees := &Desired{Request: ledger.Request{Intent: "a"}}, []ledger.SiteTree{}
	in := Input{Desired: d, HasAllReported: true, Policy: Policy{AutoRollback: true, MaxRetries: 1}}
	part := ledger.Part{Delivery: "d", ConfigRef: "home"}
	for n := range 500 {
		site := fmt.Sprintf("edge-%03d", n)
		part.Sites, trees = append(part.Sites, site), append(trees, ledger.SiteTree{Site: site, ID: "a"})
		in.Directories = append(in.Directories, Directory{Site: site, IsChosen: true, IsKnown: true, Tree: "a"})
	}
	for n := range 20 {
		d.Plan = append(d.Plan, ledger.Step{Sites: part.Sites[n*25 : (n+1)*25]})
	}
	d.Parts = []ledger.Part{part}
	in.Directories[499].Tree = "b"
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "a", Home: "home"}}, *orderRevision(ledger.State{}, *d, nil)}
	for n := range int32(19) {
		events = append(events, ledger.Event{Advanced: &ledger.Advanced{Step: n + 1}})
	}
	events = append(events, ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: trees}})
	d.Request.Intent = "b"
	s, err := ledger.Append(ledger.State{}, recordedAt, events...)
	if err == nil {
		s, err = ledger.Append(s, recordedAt, *orderRevision(s, *d, nil), rejected("GateFailed"))
	}
	if err != nil {
		b.Fatal(err)
	}
	return s, in
}
