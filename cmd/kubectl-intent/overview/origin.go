package overview

import (
	"cmp"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// Origins of a revision that no RolloutRequest asked for.
const (
	originIntent = "the intent"
	originUpdate = "an update"

	// originRequest stands for a RolloutRequest that does not exist any more.
	originRequest = "a RolloutRequest"
)

// originOfCurrent returns the author of the RolloutRequest for the present revision or, without one, whether the intent changed or its Blueprint,
// renderer or Sites.
func originOfCurrent(s ledger.State) string {
	if r := s.Current.RequestRef; r != nil {
		return cmp.Or(r.By, r.Name)
	}
	for _, p := range slices.Backward(s.History) {
		if p.Number < s.Current.Number && p.Request.Intent == s.Current.Request.Intent {
			return originUpdate
		}
		if p.Number < s.Current.Number {
			break
		}
	}
	return originIntent
}

// originOfPast returns why a past revision was ordered, as it follows from the previous revision: the ledger does not keep who asked. It is
// empty where the ledger forgot that revision.
func originOfPast(s ledger.State, p ledger.Past) string {
	i := slices.IndexFunc(s.History, func(q ledger.Past) bool { return q.Number == p.Number-1 })
	switch {
	case p.Number == 1:
		return originIntent
	case i < 0 || s.History[i].Request.Scheme != p.Request.Scheme:
		return "" // Digests by other rules cannot be compared.
	case s.History[i].Request.Intent != p.Request.Intent:
		return originIntent
	case s.History[i].Request == p.Request:
		return originRequest // Only a request orders the same again.
	}
	return originUpdate
}

// requesterOf returns the author of the RolloutRequest for a revision, as far as that still exists.
func requesterOf(f *cause.Facts, revision int64) string {
	for i := range f.Requests {
		if r := &f.Requests[i]; r.Status.NewRevision == revision {
			return cmp.Or(r.Spec.RequestedBy, r.Name)
		}
	}
	return ""
}
