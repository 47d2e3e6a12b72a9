package repository

import (
	"context"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository/stateplace"
)

// searchStatePlaces reads all places that the state may be in, and uses the place whose state counts from then on.
func (r *Repository) searchStatePlaces(ctx context.Context) (*git.Snapshot, error) {
	r.mu.Lock()
	search := stateplace.Search{Clients: r.clients, Form: r.form, Previous: r.snapshot, Known: r.places, Use: r.useStatePlace, Now: r.pool.options.Now}
	r.mu.Unlock()
	return search.Find(ctx)
}

// useStatePlace uses the state of a client from now on, and remembers all places for the next search.
func (r *Repository) useStatePlace(form int, places []stateplace.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.form, r.places = form, places
}

// retireRivalState retires the other state, after a push of the state in use. If that fails, it is tried again after the next push.
func (r *Repository) retireRivalState(ctx context.Context, pushed *git.Proposal) {
	s, observedAt := r.knownSnapshot()
	if s == nil || s.StateRival() == "" {
		return
	}
	i := slices.IndexFunc(r.clients, func(c *git.Client) bool { return c.Remote().StateRef == s.StateRival() })
	err := r.runOperation(ctx, func(ctx context.Context) error {
		return stateplace.Retire(ctx, r.clients[i], r.currentClient().Remote().StateRef, pushed)
	})
	if err == nil {
		r.keepSnapshot(s.WithStateRival(""), observedAt)
	}
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
