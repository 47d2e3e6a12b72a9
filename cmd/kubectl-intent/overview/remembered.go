package overview

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
)

// RememberedLines are all revisions that a repository remembers of a deployment, the newest first, each with why it was rejected.
func RememberedLines(m clone.Memory, all []Revision, s Style) []string {
	out := []string{s.justifyLine(fmt.Sprintf("%s  %s  %s %s", m.Claim.Name, m.Claim.Namespace, m.Claim.Kind, m.Claim.APIGroup), "recorded "+s.formatClock(&metav1.Time{Time: m.At}))}
	out = append(out, s.wrapText("As "+m.Ref+" of the clone remembers it."+partialWords(m))...)
	return append(out, s.historyRows(all)...)
}

// partialWords name the parts that a repository does not remember.
func partialWords(m clone.Memory) string {
	switch {
	case m.State.IsClosed:
		return " The deployment was deleted."
	case !m.IsHome:
		return fmt.Sprintf(" The ledger is in the repository of %s: this record has the part that a rollback needs.", cmp.Or(m.State.Successor, m.State.Home))
	}
	return ""
}

// RememberedRevisions returns the revisions that a repository remembers, the newest first. A judged revision is in the history, where that is
// whole.
func RememberedRevisions(m clone.Memory) []Revision {
	var out []Revision
	c, isPast := m.State.Current, func(p ledger.Past) bool { return p.Number == m.State.Current.Number }
	if c != nil && !slices.ContainsFunc(m.State.History, isPast) {
		reason, message := rejectionOf(m.State.Verdict)
		now := Revision{Number: c.Number, Verdict: verdictText(m.State.Verdict, false), Reason: reason, Message: message, Since: startTimeInEvents(m, c.Number), RequestedBy: originOfCurrent(m.State)}
		out = append(out, completeRevision(m, now))
	}
	for _, p := range slices.Backward(m.State.History) {
		past := pastRevision(p, m.State.Target)
		past.RequestedBy = originOfPast(m.State, p)
		out = append(out, completeRevision(m, past))
	}
	return out
}

// completeRevision adds facts from the record of the repository and the events of the ledger.
func completeRevision(m clone.Memory, r Revision) Revision {
	r.IsLive = r.Number == liveRevision(m.State)
	for _, h := range m.Revisions {
		if h.Revision == r.Number {
			r.Commit = shortenCommit(h.Commit)
		}
	}
	for _, e := range m.Events {
		if e.Ordered != nil && e.Ordered.Revision.Number == r.Number && e.Ordered.Revision.RequestRef != nil {
			r.RequestedBy = cmp.Or(e.Ordered.Revision.RequestRef.By, e.Ordered.Revision.RequestRef.Name)
		}
	}
	return r
}

// liveRevision is the revision that was proven to run at all Sites, or 0: the present revision if it was verified, or the target of a
// rollback that ended.
func liveRevision(s ledger.State) int64 {
	switch {
	case s.Restored:
		return s.Target
	case s.IsVerified() && s.Current != nil:
		return s.Current.Number
	}
	return 0
}

// startTimeInEvents is when a revision began, as far as the events say.
func startTimeInEvents(m clone.Memory, number int64) *metav1.Time {
	for _, e := range m.Events {
		if e.Ordered != nil && e.Ordered.Revision.Number == number {
			return e.At
		}
	}
	return nil
}
