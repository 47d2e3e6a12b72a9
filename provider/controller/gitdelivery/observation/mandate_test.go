package observation

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/state"
)

const webAtE1 = "clusters/edge1/team-a/web"

// newHome returns a delivery that holds the ledger, may be written, and has the files of one directory.
func newHome(t *testing.T) *v1alpha1.GitDelivery {
	t.Helper()
	files, err := tree.Encode(tree.Files{"configmap.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team-a}\n")})
	if err != nil {
		t.Fatal(err)
	}
	d := &v1alpha1.GitDelivery{}
	d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{}
	d.Spec.ForProvider.Trees = []v1alpha1.Tree{{
		Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionDesired, Encoding: v1alpha1.EncodingGzipTar, Files: files,
	}}
	return d
}

// deliveredInTracks is a delivered directory whose tracks share the requests.
var deliveredInTracks = []state.Tree{{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{
	Site: "edge1", Path: webAtE1, Tracks: []v1alpha1.DeliveredTrack{{Name: "blue", Weight: 80}, {Name: "green", Weight: 20}},
}}}

// TestActsByMandate has a home with a mandate.
func TestActsByMandate(t *testing.T) {
	cases := map[string]struct {
		reason    string
		isRefused bool
		change    func(d *v1alpha1.GitDelivery, f *decision.Facts)
		want      bool
	}{
		"Home": {reason: "A home that may be written is acted for.", change: func(*v1alpha1.GitDelivery, *decision.Facts) {}, want: true},
		"Updated": {reason: "A home that may be updated is acted for.", change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe", "Update"}
		}, want: true},
		"Refused": {
			reason:    "A provider that does not honour mandates acts for none.",
			isRefused: true, change: func(*v1alpha1.GitDelivery, *decision.Facts) {},
		},
		"Observed": {reason: "A home that may only be observed is left.", change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe"}
		}},
		"Unmanaged": {
			reason: "A home that is not managed is left.",
			change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) { d.Spec.ManagementPolicies = nil },
		},
		"Deleted": {
			reason: "A home that is being deleted is left.",
			change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) {
				d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			},
		},
		"Follower": {
			reason: "A repository without the ledger has nothing to record.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) { f.Spec.Ledger = nil },
		},
		"Tracks": {
			reason: "A home with the files that its tracks share is acted for.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) { f.Delivered = deliveredInTracks }, want: true,
		},
		"NoFiles": {reason: "A home without the files that its tracks share is left to the function.", change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) {
			f.Delivered, f.Spec.Trees[0].Files = deliveredInTracks, nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHome(t)
			f := decision.Facts{Spec: *d.Spec.ForProvider.DeepCopy()}
			tc.change(d, &f)
			g := &Gatherer{HonoursMandates: !tc.isRefused}
			if got := g.actsByMandate(d, f); got != tc.want {
				t.Errorf("\n%s\nactsByMandate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMayFollowHome has a delivery to another repository than the home.
func TestMayFollowHome(t *testing.T) {
	cases := map[string]struct {
		reason    string
		isRefused bool
		change    func(d *v1alpha1.GitDelivery, f *decision.Facts)
		want      bool
	}{
		"Follower": {
			reason: "A repository that may be written goes by the home.",
			change: func(*v1alpha1.GitDelivery, *decision.Facts) {}, want: true,
		},
		"Refused": {
			reason:    "A provider that does not honour mandates lets no repository go by the home.",
			isRefused: true, change: func(*v1alpha1.GitDelivery, *decision.Facts) {},
		},
		"Observed": {reason: "A repository that may only be observed is left.", change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe"}
		}},
		"Deleted": {
			reason: "A delivery that is being deleted is left.",
			change: func(d *v1alpha1.GitDelivery, _ *decision.Facts) {
				d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			},
		},
		"Home": {
			reason: "A home goes by its own ledger.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) { f.Spec.Ledger = &v1alpha1.LedgerUpdate{} },
		},
		"Read": {
			reason: "A repository that is asked for no position is read only.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) { f.Spec.Position = nil },
		},
		"Tracks": {
			reason: "A repository goes by the home with the files that its tracks share.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) { f.Delivered = deliveredInTracks }, want: true,
		},
		"NoFiles": {
			reason: "A repository without the files that its tracks share is left to the function.",
			change: func(_ *v1alpha1.GitDelivery, f *decision.Facts) {
				f.Delivered, f.Spec.Trees[0].Files = deliveredInTracks, nil
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHome(t)
			d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &ledger.State{}, &ledger.Position{Revision: 1}
			f := decision.Facts{Spec: *d.Spec.ForProvider.DeepCopy()}
			tc.change(d, &f)
			g := &Gatherer{HonoursMandates: !tc.isRefused}
			if got := g.mayFollowHome(d, f); got != tc.want {
				t.Errorf("\n%s\nmayFollowHome(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
