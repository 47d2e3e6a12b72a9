package step

import (
	"cmp"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Repository is the report of one repository of a deployment about the ledger.
type Repository struct {
	// ConfigRef is the name of the configuration of the repository.
	ConfigRef string

	// IsKnown is true if the provider read the repository. Its ledger is unknown before.
	IsKnown bool

	// Ledger that the repository holds. The zero value means that it holds no ledger.
	Ledger ledger.State

	// Copy of the ledger in the repository's record.
	Copy ledger.State
}

// Home is the repository that holds the ledger of a deployment.
type Home struct {
	// ConfigRef is the name of the configuration of the repository.
	ConfigRef string

	// IsKnown is true if the recorded state is known. Nothing is decided before.
	IsKnown bool

	// State that is recorded.
	State ledger.State

	// Events by which the ledger begins, or continues after a loss or a move.
	Events []ledger.Event
}

// FindHome returns the home of a deployment: the repository that the newest copy of the ledger names, or the preferred repository where there is none. A
// RolloutRequest that forces the ledger to move names another one. Identify returns the identity of a ledger that has to be opened in a home: no other
// ledger may have it, nor a ledger that is opened in another home at the same time.
func FindHome(all []Repository, preferred string, identify func(home string) string, requests []Request) Home {
	newest := NewestCopy(all)
	forced := forcedMoveRequest(newest, requests)
	h := Home{ConfigRef: cmp.Or(newest.Successor, newest.Home, preferred), IsKnown: len(all) == 0}
	if newest.IsClosed {
		h.ConfigRef = preferred // Another deployment had the name, and was deleted.
	}
	if forced != nil {
		h.ConfigRef = forced.ToConfigRef
	}
	for _, r := range all {
		if r.ConfigRef == h.ConfigRef {
			h.State, h.IsKnown = r.Ledger, r.IsKnown
		}
	}
	if h.IsKnown {
		h.Events = h.proposeBeginning(all, identify, forced)
	}
	return h
}

// proposeBeginning returns the events by which the ledger of a home begins, or continues from a newer copy.
func (h Home) proposeBeginning(all []Repository, identify func(home string) string, forced *Request) []ledger.Event {
	var events []ledger.Event
	s, newest := h.State, newestExcept(all, h.State.Head)
	if s.Seq == 0 || s.Successor != "" || s.IsClosed {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: identify(h.ConfigRef), Home: h.ConfigRef}})
		s, _ = ledger.Append(s, time.Time{}, events...) // No other ledger has the identity, so that it is legal.
	}
	if h.State.Successor != "" { // A ledger that is back before another home opened it continues from its own end.
		newest = NewestCopy(all)
	}
	if newest.IsClosed || !newest.Supersedes(s) && h.State.Successor == "" {
		return events
	}
	recovered := &ledger.Recovered{Copy: newest}
	if forced != nil && !isRequestTaken(h.State, forced.Ref.UID) {
		recovered.RequestRef = &forced.Ref
	}
	return append(events, ledger.Event{Recovered: recovered})
}

// NewestCopy returns the newest state that a repository has of the ledger.
func NewestCopy(all []Repository) ledger.State { return newestExcept(all, ledger.Head{}) }

// newestExcept returns the newest state that a repository has of the ledger, but for one.
func newestExcept(all []Repository, but ledger.Head) ledger.State {
	newest := ledger.State{}
	for _, r := range all {
		for _, c := range []ledger.State{r.Ledger, r.Copy} {
			if c.Head != but && c.Compare(newest.Head) > 0 {
				newest = c
			}
		}
	}
	return newest
}

// forcedMoveRequest returns the RolloutRequest that moves a ledger although its home may be gone: the newest one about the current revision, since the home that an
// older one names may be gone too. It returns nil if there is none, or if it took effect.
func forcedMoveRequest(s ledger.State, requests []Request) *Request {
	for i, r := range slices.Backward(requests) {
		switch {
		case !r.isForcedMove():
		case s.Seq == 0 || isRequestTaken(s, r.Ref.UID):
			return nil
		case refuseOtherRevision(s, r) == "":
			return &requests[i]
		}
	}
	return nil
}

// isForcedMove is true for a request that moves the ledger although its home cannot be reached, to a repository that a delivery goes to.
func (r Request) isForcedMove() bool {
	return r.Action == ActionMoveLedger && r.Force && r.ToConfigRef != ""
}
