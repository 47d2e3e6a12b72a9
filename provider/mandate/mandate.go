// Package mandate decides which events a provider may record by the mandate of a delivery, on the evidence of its own objects, and which trees the
// directories get. It is pure. The rules are in apis/step, and the function uses the same rules.
package mandate

import (
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/timeout"
)

// Status returns the kinds of events that the provider may record on top of a state by a mandate. It returns nil if the mandate is for another revision,
// has other rules than this version, or lists no known kind, or if the deployment moves from or to tracks in several repositories.
func Status(m *v1alpha1.Mandate, s ledger.State) *v1alpha1.MandateStatus {
	if !m.Covers(s) || m.Rules != step.Rules || isAcrossTracks(s) && !isInHomeAlone(s) {
		return nil
	}
	may := slices.DeleteFunc(slices.Clone(m.May), func(k step.Kind) bool {
		return !slices.Contains(step.Kinds(), k) || !mayRecordEvent(k, m, s)
	})
	if len(may) == 0 {
		return nil
	}
	return &v1alpha1.MandateStatus{Rules: m.Rules, Revision: s.Current.Number, May: may}
}

// mayRecordEvent is true for a kind of events that the provider may record on top of a state. A request about the revision by which a user rolls back would end the
// mandate before the rollback. The function alone has the files of a move. No step begins, and nothing is verified, once the deployment has left a Site of the
// revision.
func mayRecordEvent(k step.Kind, m *v1alpha1.Mandate, s ledger.State) bool {
	switch k {
	case step.KindRequest:
		return m.Revision == s.Current.Number
	case step.KindAdvance:
		return len(m.Without) == 0 && !s.IsMove() && (s.Current.HasSteps() || !s.HasTracks())
	case step.KindVerify:
		return len(m.Without) == 0 && !s.IsMove()
	}
	return true
}

// involvesTracks is true for a revision with tracks, or with a rollback target that has tracks.
func involvesTracks(s ledger.State) bool {
	target := step.TargetOf(s)
	return s.HasTracks() || s.Current.HasSteps() || target != nil && !ledger.IsPlain(target.Track)
}

// isAcrossTracks is true for a move from or to tracks, and for a revision without tracks whose rollback target has some: only the function has the files of both.
func isAcrossTracks(s ledger.State) bool { return s.IsMove() || involvesTracks(s) && !s.HasTracks() }

// isInHomeAlone is true for a revision of which the home of the ledger is the only repository.
func isInHomeAlone(s ledger.State) bool {
	parts := s.Current.Parts
	return len(parts) == 1 && parts[0].ConfigRef == s.Home
}

// Position returns the desired position of a delivery's repository: the position of its spec, or a later position that the ledger reached by the mandate
// of the home.
func Position(d *v1alpha1.GitDelivery) ledger.Position {
	requested, observation := d.Spec.ForProvider.AskedPosition(), d.Status.AtProvider
	if observation.Follows != nil && d.Spec.ForProvider.Ledger == nil && requested.Compare(observation.Follows.Position) < 0 {
		return observation.Follows.Position
	}
	if observation.Mandate == nil || observation.Ledger == nil || !IsAhead(d.Spec.ForProvider, *observation.Ledger) {
		return requested
	}
	return observation.Ledger.Position()
}

// AttemptTimeout returns the timeout of a rollback attempt that began by the mandate of a home. It is zero if the spec names the current position itself, and
// for a step of a revision, which has the timeout of the spec.
func AttemptTimeout(d *v1alpha1.GitDelivery) time.Duration {
	m, follows, position := d.Spec.ForProvider.Mandate, d.Status.AtProvider.Follows, Position(d)
	switch {
	case position.Attempt == 0, position == d.Spec.ForProvider.AskedPosition():
		return 0
	case m != nil:
		return mandateTimeout(*m)
	case follows != nil:
		return parseTimeout(follows.AttemptTimeout)
	}
	return 0
}

// mandateTimeout returns the timeout of a mandate, or the default for one that is invalid.
func mandateTimeout(m v1alpha1.Mandate) time.Duration { return parseTimeout(m.Rollback.AttemptTimeout) }

func parseTimeout(text string) time.Duration {
	parsed, _ := timeout.Parse(timeout.OfAttempt(text))
	return parsed
}

// isEarlierPosition is true for an earlier position of the current revision of a state, or of the revision that a user rolled back by it, in the same epoch.
func isEarlierPosition(p ledger.Position, s ledger.State) bool {
	return isOfRevision(p, s) && p.Compare(s.Position()) < 0
}

// isOfRevision is true for a position of the current revision of a state, or of the revision that a user rolled back by it.
func isOfRevision(p ledger.Position, s ledger.State) bool {
	return p.Revision > 0 && p.Epoch == s.Epoch && (p.Revision == s.Current.Number || p.Revision == s.Withdraws)
}

// deliversAllParts is true if the home's delivery has every part of the revision, by its name in the composition.
func (f Facts) deliversAllParts(s ledger.State) bool {
	return !slices.ContainsFunc(s.Current.Parts, func(part ledger.Part) bool { return !f.isHomePart(part) })
}

// IsDue reports whether the status of a delivery alone is evidence for an event by the mandate, so that the delivery is reconciled before its next
// interval: a rollback attempt may fail as soon as it begins. The end of a rollback in several repositories needs their evidence too.
func IsDue(d *v1alpha1.GitDelivery, now time.Time) bool {
	observation := d.Status.AtProvider
	if observation.Mandate == nil || observation.Ledger == nil || observation.Record == nil || d.Spec.ForProvider.Mandate == nil {
		return false
	}
	s, f := *observation.Ledger, Facts{Home: d, Applied: observation.Record.Position, Delivered: deliveredTrees(d), Now: now}
	_, events := f.Conclude(s, s)
	return slices.ContainsFunc(events, func(e ledger.Event) bool { return !needsAllParts(e, s) || f.deliversAllParts(s) })
}

// needsAllParts is true for an event on top of a state that needs the evidence of each repository: the end of a rollback, and in tracks its first attempt, which
// does not begin where each repository holds the target.
func needsAllParts(e ledger.Event, s ledger.State) bool {
	return e.Restored != nil || e.RolledBack != nil && s.HasTracks() && s.Cursor.Attempt == 0
}
