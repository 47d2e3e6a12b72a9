package repository

import (
	"context"
	"slices"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository/backoff"
)

// deliverBatch delivers a group, and answers each of its deliveries. A delivery that the server refuses harms no other one: a group that
// is refused is divided until that delivery is found.
func (r *Repository) deliverBatch(ctx context.Context, group []*item) {
	for len(group) > 0 {
		planned, rest, err := r.pushBatchWithRetry(ctx, group)
		switch {
		case err == nil:
			planned.finishDeliveries(r)
		case len(group) > 1 && !backoff.IsShared(err) && !failure.IsConflict(err):
			half := len(group) / 2
			if failure.ClassOf(err) == failure.ClassNotAtomic {
				half = 1
			}
			r.deliverBatch(ctx, group[:half])
			rest = group[half:]
		default:
			r.failDeliveries(group, err)
			rest = nil
		}
		group = rest
	}
}

// deliverOrFail delivers a group. A panic is the error of all deliveries in it that have not ended: the queue goes on.
func (r *Repository) deliverOrFail(ctx context.Context, group []*item) {
	err := recoverPanic("deliver to the repository", func() error {
		r.deliverBatch(ctx, group)
		return nil
	})
	if err != nil {
		r.failDeliveries(slices.DeleteFunc(slices.Clone(group), (*item).isItemAnswered), err)
	}
}

// failDeliveries ends all deliveries of a group with one error.
func (r *Repository) failDeliveries(group []*item, err error) {
	if backoff.IsShared(err) {
		r.mu.Lock()
		r.pushBackoff.RecordResult(err, r.pool.options.Now())
		r.mu.Unlock()
	}
	if failure.IsConflict(err) {
		r.requeueLosers(group)
	}
	for _, i := range group {
		if !backoff.IsShared(err) && !failure.IsConflict(err) {
			r.recordRefusal(i, err)
		}
		r.finishAndWake(i, err)
	}
}

// pushBatchWithRetry pushes a group, and tries again as long as another writer pushes first. It returns the batch that was pushed, and the
// deliveries that did not fit into it.
func (r *Repository) pushBatchWithRetry(ctx context.Context, group []*item) (batch, []*item, error) {
	first := &firstPush{}
	for conflicts := 0; ; conflicts++ {
		began := r.pool.options.Now()
		p, rest, err := r.tryPushBatch(ctx, group, conflicts > 0, first.whole)
		switch {
		case r.probeNextWay(p, err, first):
		case failure.ClassOf(err) == failure.ClassNotAtomic:
			r.pushSerially()
			return batch{}, nil, err
		case err == nil:
			r.onPushSucceeded(conflicts, r.pool.options.Now().Sub(began))
			return p, rest, nil
		case !failure.IsConflict(err):
			return p, rest, err
		case conflicts == maxConflicts:
			return batch{}, nil, err
		}
		r.onPushConflict(conflicts, len(p.items))
		if !r.pool.pauseUnlessEnded(r.pool.options.Pause()) {
			return batch{}, nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot push to the repository: the provider ends"}
		}
	}
}

// tryPushBatch pushes a group once, or as many of it as fit, on top of the known snapshot, or for a retry on top of a new one. With whole, the
// first state of a repository goes with the branch.
func (r *Repository) tryPushBatch(ctx context.Context, group []*item, isRetry, whole bool) (batch, []*item, error) {
	s, observedAt, err := r.snapshotForBatch(ctx, isRetry)
	if err != nil {
		return batch{}, nil, err
	}
	p, rest, err := planDeliveryBatch(ctx, s, group, r.currentBatchLimit())
	if err == nil {
		err = r.pushProposal(ctx, p, observedAt, whole)
	}
	return p, rest, err
}

// pushSerially makes each push carry one delivery from now on.
func (r *Repository) pushSerially() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial = true
}

// snapshotForBatch returns the snapshot to plan on. The known one is good enough: the push fails if the repository has moved since.
func (r *Repository) snapshotForBatch(ctx context.Context, isRetry bool) (*git.Snapshot, time.Time, error) {
	if s, observedAt := r.knownSnapshot(); s != nil && !isRetry {
		return s.Open(), observedAt, nil
	}
	var s *git.Snapshot
	began := r.pool.options.Now()
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		s, err = r.lookAtServer(ctx)
		return err
	})
	if err != nil {
		return nil, began, err
	}
	r.keepSnapshot(s, began)
	return s, began, nil
}

// pushProposal pushes a batch. A result without changes, by a snapshot from before the request of a delivery, counts as a conflict: the
// repository may have moved since.
func (r *Repository) pushProposal(ctx context.Context, p batch, observedAt time.Time, whole bool) error {
	if p.proposal.Empty() {
		for _, i := range p.items {
			if observedAt.Before(i.askedAt) {
				return &failure.Error{Class: failure.ClassConflict, Detail: "cannot decide from an old snapshot of the repository: it is read again"}
			}
		}
		return nil
	}
	parts := []*git.Proposal{p.proposal}
	if p.first && !whole {
		// The first state of a repository goes alone: a server that hides its ref refuses it, and takes the branch all the same, atomic
		// or not. A revision is not delivered where its state cannot be written.
		ahead, branch := p.proposal.SplitState()
		parts = []*git.Proposal{ahead, branch}
	}
	for n, part := range parts {
		began := r.pool.options.Now()
		err := r.runOperation(ctx, func(ctx context.Context) error {
			pushed, err := r.currentClient().Push(ctx, part)
			if err == nil {
				r.keepSnapshot(pushed.Snapshot, began)
			}
			return err
		})
		ended := Operation{Name: OperationPush, Err: err, Took: r.pool.options.Now().Sub(began)}
		if n == len(parts)-1 {
			ended.Deliveries = len(p.items)
		}
		r.pool.options.Ended(ended)
		if err != nil {
			return err
		}
	}
	r.retireRivalState(ctx, p.proposal)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushBackoff.RecordResult(nil, r.pool.options.Now())
	return nil
}

// A batch is a group of deliveries that go with one push.
type batch struct {
	proposal *git.Proposal
	// first is true if the repository has no state yet, and this is the push that writes it.
	first bool
	items []*item
	errs  []error
}

// planDeliveryBatch plans one delivery on top of the other, as many as fit and at most limit. It returns the rest of the group.
func planDeliveryBatch(ctx context.Context, s *git.Snapshot, group []*item, limit int) (batch, []*item, error) {
	p := batch{first: s.StateTip() == ""}
	draft := git.NewDraft(s)
	limit = min(len(group), limit)
	if s.Stateless() {
		limit = min(limit, 1) // The first delivery recovers the state that all others build on.
	}
	for len(p.items) < limit && draft.Size() < maxBatchBytes {
		i := group[len(p.items)]
		next := draft.Fork()
		err := recoverPanic("plan the delivery", func() error { return i.Plan(ctx, next) })
		if err == nil {
			draft = next
		}
		p.items, p.errs = append(p.items, i), append(p.errs, err)
	}
	var err error
	p.proposal, err = draft.Proposal(ctx)
	return p, group[len(p.items):], err
}

// finishDeliveries ends each delivery of the batch with its own error.
func (p batch) finishDeliveries(r *Repository) {
	for n, i := range p.items {
		r.finishAndWake(i, p.errs[n])
	}
}
