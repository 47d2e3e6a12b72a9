package gitdelivery

import (
	"cmp"
	"encoding/json"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// ledgerStateOf returns a state, or an empty state for nil.
func ledgerStateOf(s *ledger.State) ledger.State { return ptr.Deref(s, ledger.State{}) }

// wishAnnotation of a delivery has its wish, so that the world has the wish as long as the object exists.
const wishAnnotation = "test/wish"

// A wish is the target of a delivery: a revision, its step or attempt, and its verdict.
type wish struct {
	Revision   int64                    `json:"revision"`
	Request    string                   `json:"request"`
	Intent     string                   `json:"intent"`
	Steps      int32                    `json:"steps"`
	Step       int32                    `json:"step"`
	Attempt    int32                    `json:"attempt"`
	Target     int64                    `json:"target"`
	Verdict    *ledger.Verdict          `json:"verdict"`
	RequestRef *ledger.RequestReference `json:"requestRef"`
}

func setWish(d *v1alpha1.GitDelivery, target wish) {
	b, err := json.Marshal(target)
	if err != nil {
		panic(err)
	}
	d.SetAnnotations(map[string]string{wishAnnotation: string(b)})
}

// wishOf returns the wish of a delivery. It has revision 0 for a delivery without a wish.
func wishOf(d *v1alpha1.GitDelivery) wish {
	out := wish{}
	if b := d.GetAnnotations()[wishAnnotation]; b != "" {
		if err := json.Unmarshal([]byte(b), &out); err != nil {
			panic(err)
		}
	}
	return out
}

// setVerdict lets the revision of a delivery be judged.
func setVerdict(d *v1alpha1.GitDelivery, v ledger.Verdict) {
	target := wishOf(d)
	target.Verdict = &v
	setWish(d, target)
}

// composeWish sets the events in the spec of a home that lead from the state in its status to a wish, as the function does. A state ahead of the wish
// stays: the provider refuses the request then.
func (w *world) composeWish(d *v1alpha1.GitDelivery) {
	w.Helper()
	p, target := &d.Spec.ForProvider, wishOf(d)
	if target.Revision == 0 || p.Copy != nil {
		return
	}
	s := ledgerStateOf(d.Status.AtProvider.Ledger)
	events := eventsTo(s, target, p.Trees)
	next, err := ledger.Append(s, w.now(), events...)
	if err != nil {
		next = s // The provider refuses it.
	}
	p.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: events}
	p.Position, p.Settled = new(next.Position()), next.IsVerified()
	if len(events) == 0 && target.Revision < s.LastNumber {
		p.Ledger.After = ledger.Head{} // Who wrote it saw less.
	}
}

// eventsTo returns the events that lead from a state to a wish.
func eventsTo(s ledger.State, target wish, trees []v1alpha1.Tree) []ledger.Event {
	var out []ledger.Event
	if s.Seq == 0 || s.IsClosed {
		out = append(out, openedEvent(fmt.Sprintf("demo-%d", s.Seq)))
	}
	for number := s.LastNumber + 1; number < target.Revision; number++ {
		out = append(out, revisionEvent(number, wish{Intent: fmt.Sprintf("gap-%d", number)}, trees))
	}
	position, verdict, isNew := s.Position(), s.Verdict, target.Revision > s.LastNumber
	if isNew {
		out = append(out, revisionEvent(target.Revision, target, trees))
		position, verdict = ledger.Position{}, nil
	}
	if !isNew && target.Revision < s.LastNumber {
		return nil
	}
	for step := position.Step + 1; step <= target.Step; step++ {
		out = append(out, ledger.Event{Advanced: &ledger.Advanced{Step: step}})
	}
	if verdict == nil && target.Verdict != nil {
		out = append(out, judgedEvent(*target.Verdict, trees))
	}
	if target.Attempt > position.Attempt && target.Target != 0 {
		out = append(out, rolledBackEvent(target.Target))
	}
	return out
}

// revisionEvent orders a revision that delivers trees.
func revisionEvent(number int64, target wish, trees []v1alpha1.Tree) ledger.Event {
	sites := sitesOf(trees)
	e := orderedEvent(number, cmp.Or(target.Intent, "any"), sites...)
	r := &e.Ordered.Revision
	r.Request.Intent, r.Request.Sources = target.Intent, target.Request
	for range target.Steps - 1 {
		r.Plan = append(r.Plan, ledger.Step{})
	}
	r.RequestRef = target.RequestRef
	return e
}

func judgedEvent(v ledger.Verdict, trees []v1alpha1.Tree) ledger.Event {
	if v.Result == ledger.VerdictRejected {
		return rejectedEvent(cmp.Or(v.Reason, rolloutv1alpha1.RejectedGateFailed))
	}
	j := &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}}
	for _, t := range trees {
		j.Trees = append(j.Trees, ledger.SiteTree{Site: t.Site, ID: t.Tree})
	}
	return ledger.Event{Judged: j}
}

// sitesOf returns the Sites of trees, each once.
func sitesOf(trees []v1alpha1.Tree) []string {
	var out []string
	visited := map[string]bool{}
	for _, t := range trees {
		if !visited[t.Site] {
			visited[t.Site] = true
			out = append(out, t.Site)
		}
	}
	return out
}

// stateAt returns the state of a ledger that has reached a wish.
func stateAt(o wish) ledger.State {
	return ledger.State{
		Head: ledger.Head{Epoch: 1, Seq: o.Revision}, LastNumber: o.Revision, Cursor: ledger.Cursor{Attempt: o.Attempt, Step: o.Step},
		Current: &revisionEvent(o.Revision, o, nil).Ordered.Revision, Verdict: o.Verdict, Target: o.Target,
	}
}
