package compose

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// KeepRevisionTrees returns wanted deliveries with the trees of a revision instead of the trees of a newer renderer. All else about them is as wanted:
// how a directory is deleted, say. A tree that is in Git, and that no version that runs can render since the object
// which held it was lost, is retained.
func KeepRevisionTrees(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveryTrees(wanted, func(name string, t deliveryv1alpha1.Tree) deliveryv1alpha1.Tree {
		return treeOfRevision(t, observed[name], s)
	})
}

// mapDeliveryTrees returns copies of deliveries with other trees.
func mapDeliveryTrees(
	ds map[string]*deliveryv1alpha1.GitDelivery, change func(name string, t deliveryv1alpha1.Tree) deliveryv1alpha1.Tree,
) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveries(ds, func(name string, p deliveryv1alpha1.GitDeliveryParameters) deliveryv1alpha1.GitDeliveryParameters {
		p.Trees = slices.Clone(p.Trees)
		for i, t := range p.Trees {
			p.Trees[i] = change(name, t)
		}
		return p
	})
}

func treeOfRevision(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, s ledger.State) deliveryv1alpha1.Tree {
	if t.Action != deliveryv1alpha1.ActionDesired {
		return t
	}
	if requested, ok := requestedTree(t, d, s); ok {
		return requested
	}
	// A Site that was never served, and is now, gets the present tree.
	if delivered, isDelivered := evidence.HeldTree(d, t.Path); d != nil && (!isDelivered && !wasSiteProven(s, t.Site) || delivered.Tree == t.Tree) {
		return t
	}
	return directories.Retain(t)
}

// wasSiteProven is true for a Site that was proven to run the current revision.
func wasSiteProven(s ledger.State, site string) bool {
	return slices.ContainsFunc(s.History, func(p ledger.Past) bool {
		return p.Number == s.Current.Number && slices.ContainsFunc(p.Trees, func(t ledger.SiteTree) bool { return t.Site == site })
	})
}

// requestedTree is the tree in the place of another one in a delivery that asks for the current revision of a state, now or in a later step.
func requestedTree(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, s ledger.State) (deliveryv1alpha1.Tree, bool) {
	if d == nil {
		return t, false
	}
	if later := directories.LaterOf(d.Spec.ForProvider, t, s); later != nil {
		return later.Tree, true
	}
	requested, ok := directories.TreeAt(d.Spec.ForProvider, t.Branch, t.Path)
	if ok && requested.Action == deliveryv1alpha1.ActionDesired && AsksForRevision(d, s.Current.Number) {
		return requested, true
	}
	return t, false
}

// AsksForRevision is true for a delivery whose spec has trees of a revision.
func AsksForRevision(d *deliveryv1alpha1.GitDelivery, revision int64) bool {
	p := d.Spec.ForProvider.Position
	return p != nil && p.Revision == revision
}
