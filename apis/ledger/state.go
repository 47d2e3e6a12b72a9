package ledger

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// needsCurrent returns the reason why an event for the current revision is illegal if no revision exists.
func (s State) needsCurrent() string {
	if s.Current == nil {
		return "no revision was ordered"
	}
	return ""
}

// needsUnjudged returns the reason why an event is illegal that may only come before the verdict.
func (s State) needsUnjudged() string {
	if s.Current == nil {
		return "no revision was ordered"
	}
	if s.Verdict != nil {
		return fmt.Sprintf("revision %d is %s, and a verdict never changes", s.Current.Number, s.Verdict.Result)
	}
	return ""
}

// needsRejected returns the reason why an event of a rollback is illegal if no rollback is in progress or may begin.
func (s State) needsRejected() string {
	switch {
	case s.Current == nil:
		return "no revision was ordered"
	case !s.IsRejected():
		return fmt.Sprintf("revision %d is not rejected", s.Current.Number)
	case s.Restored:
		return "the rollback came to its end"
	}
	return ""
}

// beginRevision returns the state at the start of the current revision.
func (s State) beginRevision() State {
	s.Cursor, s.Verdict, s.Target, s.Withdraws, s.Restored = Cursor{}, nil, 0, 0, false
	return s
}

// endCurrentRevision adds the current revision to the history if it was never judged. A judged revision is already in the history.
func (s State) endCurrentRevision(endedAt metav1.Time) State {
	if s.Current == nil || s.Verdict != nil {
		return s
	}
	return s.recordInHistory(Past{}, endedAt)
}

// recordInHistory puts the current revision into the history, and drops entries that exceed its length.
func (s State) recordInHistory(p Past, endedAt metav1.Time) State {
	p.Number, p.Request, p.Marked, p.EndedAt = s.Current.Number, s.Current.Request, s.Current.Marked, endedAt
	p.Track, p.Workload = s.Current.Track, s.Current.Workload
	s.History = append(slices.Clone(s.History), p)
	s.Stable = 0
	for _, p := range s.History {
		if p.IsTarget() {
			s.Stable = p.Number
		}
	}
	if tooMany := len(s.History) - MaxHistory; tooMany > 0 {
		retained := slices.DeleteFunc(slices.Clone(s.History[:tooMany]), func(p Past) bool { return p.Number != s.Stable })
		s.History = append(retained, s.History[tooMany:]...)
	}
	return s.dropExcessTrees()
}

// dropExcessTrees removes the trees of revisions until all fit: first of revisions that no rollback may go to, then of the oldest. The stable
// revision and the target of a rollback keep their trees.
func (s State) dropExcessTrees() State {
	trees := 0
	for i := range s.History {
		trees += len(s.History[i].Trees)
	}
	for _, targetsToo := range []bool{false, true} {
		for i := range s.History {
			p := &s.History[i]
			if trees <= MaxTrees || p.Number == s.Stable || p.Number == s.Target || p.IsTarget() && !targetsToo {
				continue
			}
			trees -= len(p.Trees)
			p.TreesDropped = p.TreesDropped || len(p.Trees) > 0
			p.Trees = nil
		}
	}
	return s
}

// recordRequest notes that a RolloutRequest took effect. It returns the reason why the event is illegal if the request took effect before.
func (s State) recordRequest(r *RequestReference) (State, string) {
	if r == nil {
		return s, ""
	}
	if r.UID == "" {
		return s, "the RolloutRequest has no UID"
	}
	if slices.Contains(s.Requests, r.UID) {
		return s, fmt.Sprintf("RolloutRequest %s took effect before", r.Name)
	}
	s.Requests = joinRequests(s.Requests, []string{r.UID})
	return s, ""
}

// joinRequests returns the requests of two lists, each once, with the requests of the second list as the newest, and drops the oldest above the limit.
func joinRequests(older, newer []string) []string {
	out := slices.DeleteFunc(slices.Clone(older), func(uid string) bool { return slices.Contains(newer, uid) })
	out = append(out, newer...)
	return out[max(0, len(out)-MaxRequests):]
}
