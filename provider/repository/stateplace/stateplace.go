// Package stateplace finds the state of a repository among the refs that may hold it, and retires another state.
package stateplace

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git"
)

// maxAhead limits how far the date of a state may be ahead of the clock: clocks differ.
const maxAhead = 5 * time.Minute

// A Place is the content of a ref that may hold the state.
type Place struct {
	// tip of the ref. Empty if the ref does not exist.
	tip string
	// counts is true for a state that can be used.
	counts bool
	// retired is true for a state that names another ref whose state counts.
	retired bool
	// written is the date of the last commit of the state. Zero without a date that can be trusted.
	written time.Time
	// unread is true for a ref that could not be read.
	unread bool
}

// placeOfSnapshot returns the place of the state of a snapshot. A date in the future does not count as the date of the state: a clock that
// was wrong once would decide for years which state counts.
func placeOfSnapshot(s *git.Snapshot, now time.Time) Place {
	p := Place{tip: s.StateTip(), counts: !s.Stateless(), retired: s.StateRetired(), written: s.StateTime()}
	if p.written.After(now.Add(maxAhead)) {
		p.written = time.Time{}
	}
	return p
}

// countsMoreThan reports whether the state of a place takes precedence over another: a usable state, and then the newer one.
func (p Place) countsMoreThan(otherPlace Place) bool {
	if !p.counts || !otherPlace.counts {
		return p.counts && !otherPlace.counts
	}
	return p.written.After(otherPlace.written)
}

// A Search looks for the state of a repository in several places.
type Search struct {
	// Clients of the repository, which differ in the ref of the state only. Each watches the refs of all.
	Clients []*git.Client
	// Form is the index of the client whose state was in use, and is read first.
	Form int
	// Previous is the last snapshot of that client. It may be nil.
	Previous *git.Snapshot
	// Known are the places of an earlier search. A place is not read again while its ref has the same commit.
	Known []Place
	// Use is called with the index of the client whose state is in use, and with the places of all clients, before the state is read from a client that was not
	// in use: a push in that time must not go to the old place.
	Use func(form int, places []Place)
	// Now is the clock.
	Now func() time.Time
}

// Find reads all places that the state may be in. The repository itself records which one is in use: it is the place that holds
// a state. So each provider that looks comes to the same answer, independently of earlier refusals of a server. Where several hold one, the
// newest counts. The snapshot has the state in use, and the ref of another state. It returns a *failure.Error.
func (s *Search) Find(ctx context.Context) (*git.Snapshot, error) {
	snapshot, err := s.Clients[s.Form].Look(ctx, s.Previous)
	if err != nil {
		return nil, err
	}
	places, err := s.placesBeside(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	best := s.Form
	for i, p := range places {
		if p.countsMoreThan(places[best]) {
			best = i
		}
	}
	s.Use(best, places)
	if best != s.Form {
		if snapshot, err = s.Clients[best].Look(ctx, nil); err != nil {
			return nil, err
		}
	}
	return snapshot.WithStateRival(s.rivalStateRef(best, places)), nil
}

// placesBeside returns all places, by their form, where a snapshot was taken of the state in one of them. The content of the others is
// read once for each commit.
func (s *Search) placesBeside(ctx context.Context, snapshot *git.Snapshot) ([]Place, error) {
	out := make([]Place, len(s.Clients))
	out[s.Form] = placeOfSnapshot(snapshot, s.Now())
	for i, c := range s.Clients {
		tip := snapshot.WatchedRef(c.Remote().StateRef)
		if i == s.Form || tip == "" {
			continue
		}
		if i < len(s.Known) && s.Known[i].tip == tip && !s.Known[i].unread {
			out[i] = s.Known[i]
			continue
		}
		var err error
		// Without a state in use, the unreadable state may be the only one.
		if out[i], err = s.readStatePlace(ctx, c, tip); err != nil && !out[s.Form].counts {
			return nil, err
		}
	}
	return out, nil
}

// readStatePlace returns the content of a client's ref. An unreadable place is returned with an error, and read again by the next search.
func (s *Search) readStatePlace(ctx context.Context, c *git.Client, tip string) (Place, error) {
	snapshot, err := c.Look(ctx, nil)
	if err != nil {
		return Place{tip: tip, unread: true}, err
	}
	return placeOfSnapshot(snapshot, s.Now()), nil
}

// rivalStateRef returns the ref of another state than the state in use that is not retired, or nothing. A state that could not be read does
// not count as one, for it may be newer.
func (s *Search) rivalStateRef(best int, places []Place) string {
	for i, p := range places {
		if i != best && p.tip != "" && !p.retired && !p.unread {
			return s.Clients[i].Remote().StateRef
		}
	}
	return ""
}

// Retire retires the state of a client. The ref holds the state that counts, and author and date are those of a push. It returns a *failure.Error.
func Retire(ctx context.Context, c *git.Client, stateRef string, pushed *git.Proposal) error {
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
