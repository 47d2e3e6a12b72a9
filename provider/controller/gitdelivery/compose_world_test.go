package gitdelivery

import (
	"cmp"
	"fmt"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// composeWish asks the home of a ledger for what leads from the state that its status shows to a wish, as the function does. A state that is ahead of the
// wish stays: what is asked for is refused then.
func (w *world) composeWish(d *v1alpha1.GitDelivery) {
	w.Helper()
	p := &d.Spec.ForProvider
	if p.Order.Revision > 0 {
		w.wishes[d.GetName()], p.Order = p.Order, rolloutv1alpha1.Order{}
	}
	wish, isWish := w.wishes[d.GetName()]
	if !isWish || p.Copy != nil {
		return
	}
	s := ledgerStateOf(d.Status.AtProvider.Ledger)
	events := eventsTo(s, wish, p.Trees)
	next, err := ledger.Append(s, w.now(), events...)
	if err != nil {
		next = s // The provider refuses it.
	}
	p.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: events}
	p.Position, p.Settled = new(next.Position()), next.IsVerified()
	if len(events) == 0 && wish.Revision < s.LastNumber {
		p.Ledger.After = ledger.Head{} // Who wrote it saw less.
	}
}

// eventsTo returns the events that lead from a state to a wish.
func eventsTo(s ledger.State, wish rolloutv1alpha1.Order, trees []v1alpha1.Tree) []ledger.Event {
	var out []ledger.Event
	if s.Seq == 0 || s.IsClosed {
		out = append(out, openedEvent(fmt.Sprintf("demo-%d", s.Seq)))
	}
	for number := s.LastNumber + 1; number < wish.Revision; number++ {
		out = append(out, revisionEvent(number, rolloutv1alpha1.Order{Intent: fmt.Sprintf("gap-%d", number)}, trees))
	}
	at, verdict, isNew := s.Position(), s.Verdict, wish.Revision > s.LastNumber
	if isNew {
		out = append(out, revisionEvent(wish.Revision, wish, trees))
		at, verdict = ledger.Position{}, nil
	}
	if !isNew && wish.Revision < s.LastNumber {
		return nil
	}
	for step := at.Step + 1; step <= wish.Step; step++ {
		out = append(out, ledger.Event{Advanced: &ledger.Advanced{Step: step}})
	}
	if verdict == nil && wish.Verdict != nil {
		out = append(out, judgedEvent(*wish.Verdict, trees))
	}
	if wish.Attempt > at.Attempt && wish.Target != nil {
		out = append(out, rolledBackEvent(*wish.Target))
	}
	return out
}

// revisionEvent orders a revision that delivers trees.
func revisionEvent(number int64, wish rolloutv1alpha1.Order, trees []v1alpha1.Tree) ledger.Event {
	sites := sitesOf(trees)
	e := orderedEvent(number, cmp.Or(wish.Intent, "any"), sites...)
	r := &e.Ordered.Revision
	r.Request.Intent, r.Request.Sources = wish.Intent, wish.Request
	for range wish.Steps - 1 {
		r.Plan = append(r.Plan, ledger.Step{})
	}
	if ref := wish.RequestRef; ref != nil {
		r.RequestRef = &ledger.RequestReference{Name: ref.Name, UID: ref.UID, By: ref.By, Reason: ref.Reason}
	}
	return e
}

func judgedEvent(v rolloutv1alpha1.Verdict, trees []v1alpha1.Tree) ledger.Event {
	if v.Result == rolloutv1alpha1.VerdictRejected {
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
	seen := map[string]bool{}
	for _, t := range trees {
		if !seen[t.Site] {
			seen[t.Site] = true
			out = append(out, t.Site)
		}
	}
	return out
}
