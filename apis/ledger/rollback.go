package ledger

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (r RolledBack) applyToState(s State, _ metav1.Time) (State, string) {
	if refusal := s.needsRejected(); refusal != "" {
		return s, refusal
	}
	if !slices.ContainsFunc(s.History, func(p Past) bool { return p.Number == r.Target && p.IsTarget() }) {
		return s, fmt.Sprintf("revision %d was not verified, was withdrawn or is not in the history", r.Target)
	}
	if s.Cursor.Attempt == 0 || s.Target != r.Target {
		s.Cursor.Stage = StageClear
	}
	s.Target = r.Target
	s.Cursor.Attempt++
	return s, ""
}

func (Restored) applyToState(s State, _ metav1.Time) (State, string) {
	if refusal := s.needsRejected(); refusal != "" {
		return s, refusal
	}
	if s.Cursor.Attempt == 0 {
		return s, "no rollback began"
	}
	s.Restored = true
	return s, ""
}

func (w Withdrawn) applyToState(s State, timestamp metav1.Time) (State, string) {
	if refusal := s.needsCurrent(); refusal != "" {
		return s, refusal
	}
	target := slices.IndexFunc(s.History, func(p Past) bool { return p.Number == w.Target && p.IsTarget() })
	if target < 0 || w.Target == s.Current.Number {
		return s, fmt.Sprintf("revision %d cannot be rolled back to", w.Target)
	}
	if s.LastNumber >= MaxNumber {
		return s, fmt.Sprintf("no number follows %d", s.LastNumber)
	}
	s, refusal := s.recordRequest(&w.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	withdrawn := s.Current.Number
	// The target is the stable revision from here on, so that the history does not forget it for the current one.
	s = s.withdrawAfter(w.Target).endCurrentRevision(timestamp).withdrawAfter(w.Target)
	next := *s.Current
	s.LastNumber++
	next.Number, next.RequestRef = s.LastNumber, &w.RequestRef
	s.Current = &next
	s = s.beginRevision()
	s.Withdraws = withdrawn
	s.Verdict = &Verdict{Result: VerdictRejected, Reason: RejectedRequested, Message: w.Message}
	return s.recordInHistory(Past{Verdict: s.Verdict}, timestamp), ""
}

// withdrawAfter marks the revisions after a target as withdrawn: no rollback targets them.
func (s State) withdrawAfter(target int64) State {
	s.History = slices.Clone(s.History)
	for i := range s.History {
		s.History[i].Withdrawn = s.History[i].Withdrawn || s.History[i].Number > target
	}
	return s
}
