package state

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// forgotten stands for the request and the intent of a deleted claim: it equals no digest, so a claim of the same name starts
// a revision of its own.
const forgotten = "deleted"

// A Delivery is what an order did to a repository.
type Delivery struct {
	// Order that was carried out, and the attempt that did.
	Order   rolloutv1alpha1.Order
	Attempt *rolloutv1alpha1.Attempt
	// Base is the tip of the branch that the commit goes on. Empty when nothing is pushed to the branch.
	Base string
	// Trees that the order names, as they are afterwards.
	Trees []Tree
	// Left are directories that it has no more, and that are still there. The history has none of them: no rollback restores them.
	Left []Tree
	// Former are directories that were left on former branches, as the entry has them afterwards.
	Former []Tree
	// Commit that changed the branch. Empty when the branch had everything.
	Commit string
	// At is the date of the commit.
	At metav1.Time
}

// Record returns the entry after a delivery. The same entry and delivery give the same entry.
func Record(e Entry, d Delivery) Entry {
	if e.Deleted {
		e.Deleted, e.History = false, nil
	}
	e.Version = version
	e.Order = d.Order.DeepCopy()
	e.Attempt = d.Attempt.DeepCopy()
	e.Base = d.Base
	e.Trees = slices.Concat(d.Trees, d.Left)
	e.Former = d.Former
	if d.Commit != "" {
		e.Commit, e.CommitTime = d.Commit, d.At.DeepCopy()
	}
	e.History = lastRevisions(markWithdrawn(e.History, d.Order), e.historyEntry(d))
	return e
}

// Tombstone returns what is left of a claim that was deleted: the number of its last revision, from which a claim of the same
// name goes on.
func Tombstone(e Entry) Entry {
	t := Entry{Version: version, Claim: e.Claim, Shard: e.Shard, ClusterUID: e.ClusterUID, Deleted: true}
	if e.Order == nil {
		return t
	}
	t.Order = &rolloutv1alpha1.Order{
		Revision:        e.Order.Revision,
		Request:         forgotten,
		Intent:          forgotten,
		DigestScheme:    e.Order.DigestScheme,
		RendererVersion: e.Order.RendererVersion,
		Steps:           1,
	}
	return t
}

// historyEntry returns what the history says about the revision of the delivery.
func (e Entry) historyEntry(d Delivery) deliveryv1alpha1.HistoryEntry {
	h := deliveryv1alpha1.HistoryEntry{Revision: d.Order.Revision, StartedAt: d.At.DeepCopy()}
	for _, was := range e.History {
		if was.Revision == h.Revision {
			h = *was.DeepCopy()
		}
	}
	h.Request, h.Intent, h.Marked = d.Order.Request, d.Order.Intent, d.Order.Marked
	if d.Order.RequestRef != nil {
		h.RequestedBy = d.Order.RequestRef.By
	}
	// A rollback has other trees than the revision itself.
	if d.Order.Attempt == 0 {
		h.Commit, h.Trees = e.Commit, historyTrees(d.Trees)
	}
	if h.Verdict == nil && d.Order.Verdict != nil {
		h.Verdict, h.EndedAt = d.Order.Verdict.DeepCopy(), d.At.DeepCopy()
	}
	return h
}

func historyTrees(trees []Tree) []deliveryv1alpha1.HistoryTree {
	out := []deliveryv1alpha1.HistoryTree{}
	for _, t := range trees {
		out = append(out, deliveryv1alpha1.HistoryTree{Site: t.Site, Tree: t.Tree})
	}
	return out
}

// markWithdrawn marks the revisions that a person takes back with an order.
func markWithdrawn(history []deliveryv1alpha1.HistoryEntry, o rolloutv1alpha1.Order) []deliveryv1alpha1.HistoryEntry {
	out := slices.Clone(history)
	for i := range out {
		out[i].Withdrawn = out[i].Withdrawn || o.TakesBack(out[i].Revision)
	}
	return out
}

// lastRevisions returns the last revisions, and the newest one that there is to go back to, however old it is.
func lastRevisions(history []deliveryv1alpha1.HistoryEntry, h deliveryv1alpha1.HistoryEntry) []deliveryv1alpha1.HistoryEntry {
	all := slices.DeleteFunc(slices.Clone(history), func(o deliveryv1alpha1.HistoryEntry) bool { return o.Revision == h.Revision })
	all = append(all, h)
	slices.SortFunc(all, func(a, b deliveryv1alpha1.HistoryEntry) int { return int(a.Revision - b.Revision) })
	if len(all) <= maxHistory {
		return all
	}
	old, last := all[:len(all)-maxHistory], all[len(all)-maxHistory:]
	if slices.ContainsFunc(last, isRollbackTarget) {
		return last
	}
	for _, o := range slices.Backward(old) {
		if isRollbackTarget(o) {
			return append([]deliveryv1alpha1.HistoryEntry{o}, last...)
		}
	}
	return last
}

// isRollbackTarget reports whether a revision was verified and not withdrawn.
func isRollbackTarget(h deliveryv1alpha1.HistoryEntry) bool {
	return !h.Withdrawn && h.Verdict != nil && h.Verdict.Result == rolloutv1alpha1.VerdictVerified
}
