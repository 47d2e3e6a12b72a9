package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestHold(t *testing.T) {
	order := rolloutv1alpha1.Order{Revision: 2, Request: "b"}
	made := func(action deliveryv1alpha1.TreeAction, id string) deliveryv1alpha1.Tree {
		t := deliveryv1alpha1.Tree{Site: "edge1", Branch: "main", Path: "clusters/edge1", Action: action, Tree: id}
		if id != "" {
			t.Files = []byte(id)
		}
		return t
	}
	asks := func(o rolloutv1alpha1.Order, t deliveryv1alpha1.Tree, inGit string) *deliveryv1alpha1.GitDelivery {
		d := &deliveryv1alpha1.GitDelivery{}
		d.Spec.ForProvider.Order = o
		d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{t}
		if inGit != "" {
			d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Path: t.Path, Tree: inGit}}
		}
		return d
	}
	before := rolloutv1alpha1.Order{Revision: 1, Request: "a"}
	cases := map[string]struct {
		reason   string
		wanted   deliveryv1alpha1.Tree
		observed *deliveryv1alpha1.GitDelivery
		want     deliveryv1alpha1.Tree
		// unchanged says whether new and old trees count as the same.
		unchanged bool
	}{
		"Asked":     {reason: "What the order asks for stays.", wanted: made("Desired", "new"), observed: asks(order, made("Desired", "old"), "old"), want: made("Desired", "old")},
		"Same":      {reason: "Which may be the same.", wanted: made("Desired", "old"), observed: asks(order, made("Desired", "old"), "old"), want: made("Desired", "old"), unchanged: true},
		"Waits":     {reason: "A Site whose cluster is not ready waits.", wanted: made("Keep", ""), observed: asks(order, made("Desired", "old"), "old"), want: made("Keep", "")},
		"Served":    {reason: "A Site that was never served is.", wanted: made("Desired", "new"), observed: asks(order, made("Keep", ""), ""), want: made("Desired", "new")},
		"Lost":      {reason: "What nobody can make any more is kept.", wanted: made("Desired", "new"), observed: asks(before, made("Desired", "new"), "old"), want: made("Keep", "")},
		"LostSame":  {reason: "What can still be made is asked for.", wanted: made("Desired", "old"), observed: asks(before, made("Desired", "x"), "old"), want: made("Desired", "old"), unchanged: true},
		"Kept":      {reason: "A tree that was retained stays retained.", wanted: made("Desired", "new"), observed: asks(order, made("Keep", ""), "old"), want: made("Keep", "")},
		"NoObject":  {reason: "Nobody knows what is there.", wanted: made("Desired", "new"), want: made("Keep", "")},
		"OtherPath": {reason: "A tree elsewhere says nothing.", wanted: made("Desired", "new"), observed: &deliveryv1alpha1.GitDelivery{Spec: deliveryv1alpha1.GitDeliverySpec{ForProvider: deliveryv1alpha1.GitDeliveryParameters{Order: order}}}, want: made("Desired", "new")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wanted := map[string]*deliveryv1alpha1.GitDelivery{"d": asks(order, tc.wanted, "")}
			observed := map[string]*deliveryv1alpha1.GitDelivery{}
			if tc.observed != nil {
				observed["d"] = tc.observed
			}
			if diff := cmp.Diff(tc.unchanged, cmp.Equal(TreeIDs(wanted), AskedIDs(observed, order))); diff != "" {
				t.Errorf("\n%s\nAskedIDs(...): same: -want, +got:\n%s", tc.reason, diff)
			}
			got := Hold(wanted, observed, order)
			if diff := cmp.Diff(tc.want, got["d"].Spec.ForProvider.Trees[0]); diff != "" {
				t.Errorf("\n%s\nHold(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
