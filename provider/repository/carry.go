package repository

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// carry out a group of deliveries, and answer each. What one of them does wrong harms only that one: a group that the server does not
// want is divided until it is found.
func (r *Repository) carry(ctx context.Context, group []*item) {
	for len(group) > 0 {
		planned, rest, err := r.attempt(ctx, group)
		switch {
		case err == nil:
			planned.answer(r)
		case len(group) > 1 && !common(err) && !failure.IsConflict(err):
			half := len(group) / 2
			if failure.ClassOf(err) == failure.ClassNotAtomic {
				half = 1
			}
			r.carry(ctx, group[:half])
			rest = group[half:]
		default:
			r.fail(group, err)
			rest = nil
		}
		group = rest
	}
}

// fail all of a group for one reason.
func (r *Repository) fail(group []*item, err error) {
	if common(err) {
		r.mu.Lock()
		r.pushes.note(err, r.pool.o.Now())
		r.mu.Unlock()
	}
	if failure.IsConflict(err) {
		r.giveUp(group)
	}
	for _, i := range group {
		if !common(err) && !failure.IsConflict(err) {
			r.refuse(i, err)
		}
		r.finish(i, err)
	}
}

// attempt a group, again and again as long as somebody else pushes first. It returns what was done, and what there was no room for.
func (r *Repository) attempt(ctx context.Context, group []*item) (plan, []*item, error) {
	first := &firstPush{}
	for lost := 0; ; lost++ {
		began := r.pool.o.Now()
		p, rest, err := r.try(ctx, group, lost > 0, first.whole)
		switch {
		case r.probeNextWay(p, err, first):
		case failure.ClassOf(err) == failure.ClassNotAtomic:
			r.one()
			return plan{}, nil, err
		case err == nil:
			r.win(lost, r.pool.o.Now().Sub(began))
			return p, rest, nil
		case !failure.IsConflict(err):
			return p, rest, err
		case lost == maxLost:
			return plan{}, nil, err
		}
		r.lose(lost, len(p.items))
		if !r.pool.pause(r.pool.o.Pause()) {
			return plan{}, nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot push to the repository: the provider ends"}
		}
	}
}

// try to push a group, or as many of it as go together, on what is known; again on what is there now. The first state of a repository goes
// with the branch if it is to be pushed as a whole.
func (r *Repository) try(ctx context.Context, group []*item, again, whole bool) (plan, []*item, error) {
	s, at, err := r.snapshot(ctx, again)
	if err != nil {
		return plan{}, nil, err
	}
	p, rest, err := newPlan(ctx, s, group, r.together())
	if err == nil {
		err = r.push(ctx, p, at, whole)
	}
	return p, rest, err
}

// one by one from now on.
func (r *Repository) one() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alone = true
}

// snapshot to plan on. What is known is good enough if it still holds when it is pushed, which the push sees.
func (r *Repository) snapshot(ctx context.Context, again bool) (*git.Snapshot, time.Time, error) {
	if s, at := r.known(); s != nil && !again {
		return s, at, nil
	}
	var s *git.Snapshot
	began := r.pool.o.Now()
	err := r.host.do(ctx, func(ctx context.Context) error {
		var err error
		s, err = r.look(ctx)
		return err
	})
	if err != nil {
		return nil, began, err
	}
	r.keep(s, began)
	return s, began, nil
}

// push what was planned. What follows from an old snapshot without a push is not certain: it is a race that nobody has won yet.
func (r *Repository) push(ctx context.Context, p plan, at time.Time, whole bool) error {
	if p.proposal.Empty() {
		for _, i := range p.items {
			if at.Before(i.asked) {
				return &failure.Error{Class: failure.ClassConflict, Detail: "cannot tell what the repository holds: it was not looked at since"}
			}
		}
		return nil
	}
	parts := []*git.Proposal{p.proposal}
	if p.first && !whole {
		// The first state of a repository goes alone: a server that hides its ref refuses it, and takes the branch all the same, atomic
		// or not. What cannot be remembered must not be delivered.
		ahead, branch := p.proposal.SplitState()
		parts = []*git.Proposal{ahead, branch}
	}
	for n, part := range parts {
		began := r.pool.o.Now()
		err := r.host.do(ctx, func(ctx context.Context) error {
			pushed, err := r.client().Push(ctx, part)
			if err == nil {
				r.keep(pushed.Snapshot, began)
			}
			return err
		})
		ended := Operation{Name: OperationPush, Err: err, Took: r.pool.o.Now().Sub(began)}
		if n == len(parts)-1 {
			ended.Deliveries = len(p.items)
		}
		r.pool.o.Ended(ended)
		if err != nil {
			return err
		}
	}
	r.retireRival(ctx, p.proposal)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushes.note(nil, r.pool.o.Now())
	return nil
}

// A plan is what becomes of a group.
type plan struct {
	proposal *git.Proposal
	// first is true if the repository has no state yet.
	first bool
	items []*item
	errs  []error
}

// newPlan plans one delivery on top of the other, as many as fit and no more than most.
func newPlan(ctx context.Context, s *git.Snapshot, group []*item, most int) (plan, []*item, error) {
	p := plan{first: s.StateTip() == ""}
	draft := git.NewDraft(s)
	most = min(len(group), most)
	if s.Stateless() {
		most = min(most, 1) // Whoever is first recovers what all others build on.
	}
	for len(p.items) < most && draft.Size() < maxGroupBytes {
		i := group[len(p.items)]
		next := draft.Fork()
		err := i.Plan(ctx, next)
		if err == nil {
			draft = next
		}
		p.items, p.errs = append(p.items, i), append(p.errs, err)
	}
	var err error
	p.proposal, err = draft.Proposal()
	return p, group[len(p.items):], err
}

// answer everybody.
func (p plan) answer(r *Repository) {
	for n, i := range p.items {
		r.finish(i, p.errs[n])
	}
}
