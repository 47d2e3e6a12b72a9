package compose

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// sizedDelivery returns a delivery that brings files to one directory now, and others in a later step.
func sizedDelivery(now, later int) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	tree := deliveryv1alpha1.Tree{Site: "edge1", Path: "edge1/x", Action: deliveryv1alpha1.ActionDesired, Files: make([]byte, now)}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{tree}
	if later > 0 {
		tree.Site, tree.Path, tree.Files = "edge2", "edge2/x", make([]byte, later)
		d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{{Tree: tree, Revision: 2, Step: 1}}
	}
	return d
}

// TestFitLater has one desired delivery, with deliveries of another revision beside it that stay until it is in place.
func TestFitLater(t *testing.T) {
	const kib = 1 << 10
	cases := map[string]struct {
		reason     string
		now, later int
		others     int
		large      int
		want       bool
	}{
		"Fits":   {reason: "Later files that fit into the object and into the response are carried.", now: 300 * kib, later: 300 * kib, want: true},
		"Object": {reason: "Later files that do not fit into the object are left out.", now: 400 * kib, later: 400 * kib},
		"Large": {
			reason: "Later files of other objects that are left out take no room in the response.", now: 300 * kib, later: 300 * kib, large: 2, want: true,
		},
		"Beside":   {reason: "The deliveries that stay take room in the response.", now: 300 * kib, later: 300 * kib, others: 3, want: true},
		"Response": {reason: "Later files that do not fit into the response beside the deliveries that stay are left out.", now: 300 * kib, later: 300 * kib, others: 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ds := map[string]*deliveryv1alpha1.GitDelivery{"d": sizedDelivery(tc.now, tc.later)}
			observed := map[string]*deliveryv1alpha1.GitDelivery{"d": sizedDelivery(tc.now, 0)}
			for i := range tc.large {
				ds[string(rune('s'+i))] = sizedDelivery(600*kib, 600*kib)
			}
			for i := range tc.others {
				observed[string(rune('e'+i))] = sizedDelivery(500*kib, 0)
			}
			if got := len(FitLater(ds, observed)["d"].Spec.ForProvider.Later) > 0; got != tc.want {
				t.Errorf("\n%s\nFitLater(...): later trees: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
