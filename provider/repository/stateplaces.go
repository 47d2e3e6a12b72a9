package repository

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A statePlace is the content of a ref that may hold the state.
type statePlace struct {
	// tip of the ref. Empty if the ref does not exist.
	tip string
	// counts is true for a state that can be used.
	counts bool
	// retired is true for a state that says of itself that it does not count any more.
	retired bool
	// written is when the last commit of the state was. Zero if it does not say.
	written time.Time
	// unread is true for a ref that could not be read.
	unread bool
}

// maxAhead is how much later than the clock the date of a state may be: clocks differ.
const maxAhead = 5 * time.Minute

// statePlaceOf returns the place of the state of a snapshot. A date in the future does not say when the state was written: a clock that
// was wrong once would decide for years which state counts.
func statePlaceOf(s *git.Snapshot, now time.Time) statePlace {
	p := statePlace{tip: s.StateTip(), counts: !s.Stateless(), retired: s.StateRetired(), written: s.StateTime()}
	if p.written.After(now.Add(maxAhead)) {
		p.written = time.Time{}
	}
	return p
}

// countsMoreThan reports whether the state of a place takes precedence over another: a usable state, and then the newer one.
func (p statePlace) countsMoreThan(otherPlace statePlace) bool {
	if !p.counts || !otherPlace.counts {
		return p.counts && !otherPlace.counts
	}
	return p.written.After(otherPlace.written)
}

// searchStatePlaces reads all places that the state may be in. The repository itself records which one is in use: it is the place that holds
// a state. So each provider that looks comes to the same answer, independently of earlier refusals of a server. Where several hold one, the
// newest counts.
func (r *Repository) searchStatePlaces(ctx context.Context) (*git.Snapshot, error) {
	r.mu.Lock()
	form, previous := r.form, r.snapshot
	r.mu.Unlock()
	s, err := r.clients[form].Look(ctx, previous)
	if err != nil {
		return nil, err
	}
	places, err := r.statePlacesBeside(ctx, form, s)
	if err != nil {
		return nil, err
	}
	best := form
	for i, p := range places {
		if p.countsMoreThan(places[best]) {
			best = i
		}
	}
	r.mu.Lock()
	r.form, r.places = best, places
	r.mu.Unlock()
	if best != form {
		if s, err = r.clients[best].Look(ctx, nil); err != nil {
			return nil, err
		}
	}
	return s.WithStateRival(r.rivalStateRef(best, places)), nil
}

// statePlacesBeside returns all places, by their form, where a snapshot was taken of the state in one of them. The content of the others is
// read once for each commit.
func (r *Repository) statePlacesBeside(ctx context.Context, form int, s *git.Snapshot) ([]statePlace, error) {
	r.mu.Lock()
	places := slices.Clone(r.places)
	r.mu.Unlock()
	out := make([]statePlace, len(r.clients))
	out[form] = statePlaceOf(s, r.pool.options.Now())
	for i, c := range r.clients {
		tip := s.WatchedRef(c.Remote().StateRef)
		if i == form || tip == "" {
			continue
		}
		if i < len(places) && places[i].tip == tip && !places[i].unread {
			out[i] = places[i]
			continue
		}
		var err error
		// Without a state in use, the unreadable state may be the only one.
		if out[i], err = r.readStatePlace(ctx, c, tip); err != nil && !out[form].counts {
			return nil, err
		}
	}
	return out, nil
}

// readStatePlace returns the content of a client's ref. An unreadable place is returned with an error, and read again by the next look.
func (r *Repository) readStatePlace(ctx context.Context, c *git.Client, tip string) (statePlace, error) {
	s, err := c.Look(ctx, nil)
	if err != nil {
		return statePlace{tip: tip, unread: true}, err
	}
	return statePlaceOf(s, r.pool.options.Now()), nil
}

// rivalStateRef returns the ref of another state than the state in use that is not retired, or nothing. A state that could not be read does
// not count as one, for it may be newer.
func (r *Repository) rivalStateRef(best int, places []statePlace) string {
	for i, p := range places {
		if i != best && p.tip != "" && !p.retired && !p.unread {
			return r.clients[i].Remote().StateRef
		}
	}
	return ""
}

// retireRivalState retires the other state, after a push of the state in use. If that fails, it is tried again after the next push.
func (r *Repository) retireRivalState(ctx context.Context, pushed *git.Proposal) {
	s, observedAt := r.knownSnapshot()
	if s == nil || s.StateRival() == "" {
		return
	}
	i := slices.IndexFunc(r.clients, func(c *git.Client) bool { return c.Remote().StateRef == s.StateRival() })
	err := r.runOperation(ctx, func(ctx context.Context) error {
		return retireStateOf(ctx, r.clients[i], r.currentClient().Remote().StateRef, pushed)
	})
	if err == nil {
		r.keepSnapshot(s.WithStateRival(""), observedAt)
	}
}

// retireStateOf retires the state of a client. The ref holds the state that counts.
func retireStateOf(ctx context.Context, c *git.Client, stateRef string, pushed *git.Proposal) error {
	s, err := c.Look(ctx, nil)
	if err != nil {
		return err
	}
	p, err := s.Retire(ctx, stateRef, pushed)
	if err != nil {
		return err
	}
	_, err = c.Push(ctx, p)
	return err
}

// probeNextForm selects the next form of the state, because the server refused the previous form. It returns false after the last one; then
// all are probed again, the best first, with the next push.
func (r *Repository) probeNextForm() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snapshot = nil
	r.form = (r.form + 1) % len(r.clients)
	return r.form > 0
}

// A firstPush records the server's behaviour while the first state of a repository is pushed.
type firstPush struct {
	// whole is true if the state goes with the branch.
	whole bool
	// unhooked is true if a form of the state was refused, and not by a hook.
	unhooked bool
}

// probeNextWay selects another way to push the first state of a repository, after the server refused one: in the next form, and where
// hooks refused all of them, in one push with the branch that is taken as a whole or not at all. Then the server says which of the refs
// it refuses: a hook may refuse everything, and have nothing against the state. It returns false after the last way. A server that hides
// the ref of the state takes the branch without it, atomic or not, so it is not asked.
func (r *Repository) probeNextWay(p batch, err error, first *firstPush) bool {
	if !p.first || failure.ClassOf(err) != failure.ClassStateRefused || first.whole {
		return false
	}
	first.unhooked = first.unhooked || !strings.Contains(err.Error(), "hook declined")
	if r.probeNextForm() {
		return true
	}
	first.whole = !first.unhooked
	return first.whole
}
