package gitdelivery

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// newestElsewhere returns the newest head of the ledger that another repository has, where this one may be about to record: a home that the ledger was
// forced away from may come back with events that were asked of it before, and what it recorded then would count nowhere.
func (e *external) newestElsewhere(ctx context.Context, d *v1alpha1.GitDelivery, f facts) (ledger.Head, error) {
	if !f.isHome() || !f.ledger.mayRecord(*f.spec.Ledger) {
		return ledger.Head{}, nil
	}
	all, err := e.deliveriesOf(ctx, f.spec.ClaimRef)
	if err != nil {
		return ledger.Head{}, err
	}
	newest := ledger.Head{}
	if r := f.ledger.record; r != nil && !r.Deleted {
		newest = newerHead(newest, r.Copy)
	}
	for i := range all {
		// A ledger that is closed is that of a deployment which was deleted, and had the name.
		if o := &all[i]; o.GetName() != d.GetName() && o.Spec.ForProvider.ClaimRef == f.spec.ClaimRef && !ledgerStateOf(o.Status.AtProvider.Ledger).IsClosed {
			newest = newerHead(newerHead(newest, o.Status.AtProvider.Ledger), copyOf(o.Status.AtProvider.Record))
		}
	}
	return newest, nil
}

// mayRecord reports whether events are asked for on top of the head that the repository has, or the status shows a ledger that may have been lost.
func (l *ledgerFacts) mayRecord(asked v1alpha1.LedgerUpdate) bool {
	return len(asked.Events) > 0 && asked.After == l.recorded.Head || ledgerStateOf(l.shown).Supersedes(l.recorded)
}

// newerHead returns the newer one of a head and that of a state, which may be nil.
func newerHead(h ledger.Head, s *ledger.State) ledger.Head {
	if s != nil && s.Compare(h) > 0 {
		return s.Head
	}
	return h
}

// copyOf returns the copy of the ledger in a record. It is nil if there is none.
func copyOf(r *v1alpha1.LedgerRecord) *ledger.State {
	if r == nil {
		return nil
	}
	return r.Copy
}
