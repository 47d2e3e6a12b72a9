package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func TestKeepRevisionTrees(t *testing.T) {
	now, previous := ledger.Position{Revision: 2}, ledger.Position{Revision: 1}
	treeWith := func(action deliveryv1alpha1.TreeAction, id string) deliveryv1alpha1.Tree {
		t := deliveryv1alpha1.Tree{Site: "edge1", Branch: "main", Path: "clusters/edge1", Action: action, Tree: id}
		if id != "" {
			t.Files = []byte(id)
		}
		return t
	}
	asks := func(p ledger.Position, t deliveryv1alpha1.Tree, inGit string) *deliveryv1alpha1.GitDelivery {
		d := &deliveryv1alpha1.GitDelivery{}
		d.Spec.ForProvider.Position = &p
		d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{t}
		if inGit != "" {
			d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Path: t.Path, Tree: inGit}}
		}
		return d
	}
	cases := map[string]struct {
		reason   string
		wanted   deliveryv1alpha1.Tree
		observed *deliveryv1alpha1.GitDelivery
		want     deliveryv1alpha1.Tree
		// proven is the tree that the Site was proven to run. Empty means none.
		proven string
		// unchanged says whether new and old trees count as the same.
		unchanged bool
	}{
		"Unreported": {
			reason: "A Site that was proven to run the revision keeps its tree, though no delivery has reported it.",
			wanted: treeWith("Desired", "new"), observed: asks(previous, treeWith("Keep", ""), ""), proven: "old", want: treeWith("Keep", ""),
		},
		"Asked": {
			reason: "The requested tree of the revision stays.",
			wanted: treeWith("Desired", "new"), observed: asks(now, treeWith("Desired", "old"), "old"), want: treeWith("Desired", "old"),
		},
		"Same": {
			reason: "The requested tree of the revision may be the newly rendered one.",
			wanted: treeWith("Desired", "old"), observed: asks(now, treeWith("Desired", "old"), "old"), want: treeWith("Desired", "old"),
			unchanged: true,
		},
		"Waits": {
			reason: "A Site whose cluster is not ready waits.",
			wanted: treeWith("Keep", ""), observed: asks(now, treeWith("Desired", "old"), "old"), want: treeWith("Keep", ""),
		},
		"Served": {
			reason: "A Site that was never served gets the newly rendered tree.",
			wanted: treeWith("Desired", "new"), observed: asks(now, treeWith("Keep", ""), ""), want: treeWith("Desired", "new"),
		},
		"Lost": {
			reason: "A tree that cannot be rendered any more is kept.",
			wanted: treeWith("Desired", "new"), observed: asks(previous, treeWith("Desired", "new"), "old"), want: treeWith("Keep", ""),
		},
		"LostSame": {
			reason: "A tree that can still be rendered is requested.",
			wanted: treeWith("Desired", "old"), observed: asks(previous, treeWith("Desired", "x"), "old"), want: treeWith("Desired", "old"),
			unchanged: true,
		},
		"Kept": {
			reason: "A tree that was retained stays retained.",
			wanted: treeWith("Desired", "new"), observed: asks(now, treeWith("Keep", ""), "old"), want: treeWith("Keep", ""),
		},
		"NoObject": {reason: "A directory that is not known is retained.", wanted: treeWith("Desired", "new"), want: treeWith("Keep", "")},
		"OtherPath": {
			reason: "A tree elsewhere says nothing.",
			wanted: treeWith("Desired", "new"),
			observed: &deliveryv1alpha1.GitDelivery{
				Spec: deliveryv1alpha1.GitDeliverySpec{ForProvider: deliveryv1alpha1.GitDeliveryParameters{Position: &now}},
			},
			want: treeWith("Desired", "new"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wanted := map[string]*deliveryv1alpha1.GitDelivery{"d": asks(now, tc.wanted, "")}
			observed := map[string]*deliveryv1alpha1.GitDelivery{}
			if tc.observed != nil {
				observed["d"] = tc.observed
			}
			if diff := cmp.Diff(tc.unchanged, cmp.Equal(TreeIDs(wanted), AskedIDs(observed, 2))); diff != "" {
				t.Errorf("\n%s\nAskedIDs(...): same: -want, +got:\n%s", tc.reason, diff)
			}
			s := ledger.State{Current: &ledger.Revision{Number: 2}}
			if tc.proven != "" {
				s.History = []ledger.Past{{Number: 2, Trees: []ledger.SiteTree{{Site: "edge1", ID: tc.proven}}}}
			}
			got := KeepRevisionTrees(wanted, observed, s)
			if diff := cmp.Diff(tc.want, got["d"].Spec.ForProvider.Trees[0]); diff != "" {
				t.Errorf("\n%s\nKeepRevisionTrees(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAskedIDs reads the trees of a revision where the delivery asks for another one.
func TestAskedIDs(t *testing.T) {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ForProvider.Position = &ledger.Position{Revision: 3}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{
		{Site: "edge1", Branch: "main", Path: "new", Action: deliveryv1alpha1.ActionKeep}, {Site: "edge2", Branch: "main", Path: "next", Tree: "b"},
	}
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "edge1", Path: "old", Tree: "a"}}
	got := AskedIDs(map[string]*deliveryv1alpha1.GitDelivery{"d": d}, 2)
	want := map[string]string{"d main new": "", "d main next": "", "d main old": "a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nA directory belongs to the revision as it is there, also where the delivery asks for nothing any more, or for another tree.\nAskedIDs(...): -want, +got:\n%s", diff)
	}
}
