package gitdelivery

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// showLedger shows in the status what the repository holds of the ledger: none differs from unknown. After a push it holds what was to be
// recorded.
func (e *external) showLedger(d *v1alpha1.GitDelivery, isPushed bool) {
	l, at := e.facts.ledger, &d.Status.AtProvider
	at.Record = l.shownRecord()
	if l.recovers && !isPushed {
		return
	}
	s := l.recorded
	if isPushed {
		s = l.next
	}
	if isPushed && l.closes {
		s = ledger.State{LastNumber: s.LastNumber}
	}
	at.Ledger = s.DeepCopy()
}

// restoreLedgerStatus shows what the state remembers, unless it is not ours to show.
func (e *external) restoreLedgerStatus(d *v1alpha1.GitDelivery) {
	if e.decision.hidesState {
		return
	}
	e.showLedger(d, false)
	at, l := &d.Status.AtProvider, e.facts.ledger
	if e.facts.entry == nil || e.facts.rebuilt || e.facts.isHome() && l.record.Head != l.recorded.Head {
		return
	}
	if at.Order == nil || at.Order.Behind(*e.facts.entry.Order) {
		e.logProgress(d, *e.facts.entry)
		at.Order, at.History = e.facts.entry.Order.DeepCopy(), e.facts.entry.Shown()
	}
}

// askedOrder returns what a delivery asks for, as far as clocks depend on it.
func askedOrder(d *v1alpha1.GitDelivery) rolloutv1alpha1.Order {
	if !hasLedger(d) {
		return d.Spec.ForProvider.Order
	}
	p := askedPosition(d)
	return rolloutv1alpha1.Order{Epoch: p.Epoch, Revision: p.Revision, Attempt: p.Attempt, Step: p.Step}
}

// askedPosition returns the position that a delivery with a ledger asks for.
func askedPosition(d *v1alpha1.GitDelivery) ledger.Position {
	p := d.Spec.ForProvider
	switch {
	case p.Position != nil:
		return *p.Position
	case p.Copy != nil:
		return p.Copy.Position()
	}
	return ledgerStateOf(d.Status.AtProvider.Ledger).Position()
}

// isApplied reports whether a status says that what a delivery asks for was carried out, and no attempt at it goes on.
func isApplied(d *v1alpha1.GitDelivery) bool {
	at := d.Status.AtProvider
	if !hasLedger(d) {
		return hasAppliedOrder(at, d.Spec.ForProvider.Order)
	}
	if at.Record == nil || at.Record.Position.Compare(askedPosition(d)) < 0 {
		return false
	}
	return at.Attempt == nil || at.Attempt.EndedAt != nil || !isAttemptFor(*at.Attempt, askedOrder(d))
}

// timestampOf returns a time with no more precision than a status can hold.
func timestampOf(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }
