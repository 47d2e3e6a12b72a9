package state

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Delivery is the change of a repository.
type Delivery struct {
	// Applied is the state of the ledger that the trees follow from, and IsHome says that the repository holds it.
	Applied ledger.State
	IsHome  bool
	// Attempt that brought the trees there.
	Attempt *rolloutv1alpha1.Attempt
	// Base is the tip of the branch that the commit goes on. Empty when nothing is pushed to the branch.
	Base string
	// Trees are the desired trees, in their state after the delivery.
	Trees []Tree
	// Targets are the trees that a rollback to the revision restores where they differ from the desired trees, by the paths of the directories.
	Targets map[string]deliveryv1alpha1.HistoryTree
	// Left are directories that are not asked for any more, and that are still there. The history has none of them: no rollback restores them.
	Left []Tree
	// Former are directories that were left on former branches, as the record has them afterwards.
	Former []Tree
	// Commit that changed the branch. Empty when the branch had everything.
	Commit string
	// At is the date of the commit.
	At metav1.Time
}

// After returns the record after a delivery. The same record and delivery give the same record.
func (r RecordFile) After(d Delivery) RecordFile {
	if r.Deleted {
		r.Deleted, r.Revisions = false, nil
	}
	r.Attempt, r.Base, r.Trees, r.Former = d.Attempt.DeepCopy(), d.Base, slices.Concat(d.Trees, d.Left), d.Former
	if d.Commit != "" {
		r.Commit, r.CommitTime = d.Commit, d.At.DeepCopy()
	}
	r.Revisions = lastRevisions(noteTargets(r.Revisions, d.Applied), r.revisionAfter(d))
	r.Home, r.Head, r.Position, r.Copy, r.LastNumber = d.Applied.Home, d.Applied.Head, d.Applied.Position(), nil, 0
	if !d.IsHome {
		essentials := d.Applied.Essentials()
		r.Copy = &essentials
	}
	return r
}

// revisionAfter returns the record's entry for the revision of a delivery.
func (r RecordFile) revisionAfter(d Delivery) deliveryv1alpha1.HistoryEntry {
	h := deliveryv1alpha1.HistoryEntry{Revision: d.Applied.Current.Number}
	for _, previous := range r.Revisions {
		if previous.Revision == h.Revision {
			h = *previous.DeepCopy()
		}
	}
	// A rollback has other trees than the revision itself.
	if d.Applied.Cursor.Attempt == 0 {
		h.Commit, h.Trees = r.Commit, historyTrees(d, h.Trees)
	}
	h.IsTarget = d.Applied.IsVerified()
	return h
}

// historyTrees returns the trees of a revision. A directory with action Keep has its Site's tree from the history, if that is a target of its
// own.
func historyTrees(d Delivery, previous []deliveryv1alpha1.HistoryTree) []deliveryv1alpha1.HistoryTree {
	bySite := map[string]deliveryv1alpha1.HistoryTree{}
	for _, t := range previous {
		if t.Part != "" {
			bySite[t.Site] = t
		}
	}
	out := []deliveryv1alpha1.HistoryTree{}
	for _, t := range d.Trees {
		h, isTarget := d.Targets[t.Path]
		recorded, isKept := bySite[t.Site]
		switch {
		case isTarget:
		case isKept && !lacksFullWeight(t, d.Applied.Current.Number):
			h = recorded
		default:
			h = deliveryv1alpha1.HistoryTree{Site: t.Site, Tree: t.Tree}
		}
		out = append(out, h)
	}
	return out
}

// lacksFullWeight is true for a directory in which the revision does not get all requests.
func lacksFullWeight(t Tree, revision int64) bool {
	return !slices.ContainsFunc(t.Tracks, func(deliveredTrack deliveryv1alpha1.DeliveredTrack) bool {
		return deliveredTrack.Revision == revision && deliveredTrack.Weight == 100
	})
}

// noteTargets returns a history in which each revision has its mark from a ledger, so that rollback targets are retained.
func noteTargets(history []deliveryv1alpha1.HistoryEntry, s ledger.State) []deliveryv1alpha1.HistoryEntry {
	out := slices.Clone(history)
	for i := range out {
		for _, p := range s.History {
			if p.Number == out[i].Revision {
				out[i].IsTarget = p.IsTarget()
			}
		}
	}
	return out
}

// lastRevisions returns the last revisions, and the newest revision of any age that can be a rollback target.
func lastRevisions(history []deliveryv1alpha1.HistoryEntry, h deliveryv1alpha1.HistoryEntry) []deliveryv1alpha1.HistoryEntry {
	all := slices.DeleteFunc(slices.Clone(history), func(o deliveryv1alpha1.HistoryEntry) bool { return o.Revision == h.Revision })
	all = append(all, h)
	slices.SortFunc(all, func(a, b deliveryv1alpha1.HistoryEntry) int { return int(a.Revision - b.Revision) })
	if len(all) <= maxRevisions {
		return all
	}
	old, last := all[:len(all)-maxRevisions], all[len(all)-maxRevisions:]
	if slices.ContainsFunc(last, isRollbackTarget) {
		return last
	}
	for _, o := range slices.Backward(old) {
		if o.IsTarget {
			return append([]deliveryv1alpha1.HistoryEntry{o}, last...)
		}
	}
	return last
}

func isRollbackTarget(h deliveryv1alpha1.HistoryEntry) bool { return h.IsTarget }
