package compose

import (
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Hold returns wanted deliveries with the trees of an order instead of those that a newer renderer makes. All else about them is as wanted:
// how a directory is deleted, say. A tree that is in Git, and that no version that runs can render since the object
// which held it was lost, is retained.
func Hold(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(wanted)
	for name, w := range wanted {
		held := *w
		held.Spec.ForProvider.Trees = slices.Clone(w.Spec.ForProvider.Trees)
		for i, t := range held.Spec.ForProvider.Trees {
			held.Spec.ForProvider.Trees[i] = treeOfOrder(t, observed[name], o)
		}
		out[name] = &held
	}
	return out
}

func treeOfOrder(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) deliveryv1alpha1.Tree {
	if t.Action != deliveryv1alpha1.ActionDesired {
		return t
	}
	if was, ok := askedTree(t, d, o); ok {
		return was
	}
	// A Site that was never served, and is now, gets what there is.
	if d != nil && (deliveredTreeID(d, t.Path) == "" || deliveredTreeID(d, t.Path) == t.Tree) {
		return t
	}
	return retainTree(t)
}

// askedTree is the tree in the place of another one that a delivery asks for with an order.
func askedTree(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) (deliveryv1alpha1.Tree, bool) {
	if d == nil || !asksForOrder(d, o) {
		return t, false
	}
	for _, was := range d.Spec.ForProvider.Trees {
		if was.Branch == t.Branch && was.Path == t.Path && was.Action == deliveryv1alpha1.ActionDesired {
			return was, true
		}
	}
	return t, false
}

func asksForOrder(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	asks := d.Spec.ForProvider.Order
	return asks.Revision == o.Revision && asks.Request == o.Request
}

// deliveredTreeID is the id of the tree that is in Git at a path, or empty.
func deliveredTreeID(d *deliveryv1alpha1.GitDelivery, path string) string {
	for _, t := range d.Status.AtProvider.Trees {
		if t.Path == path {
			return t.Tree
		}
	}
	return ""
}
