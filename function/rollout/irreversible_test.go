package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestBackMarked goes from revision 3 to revision 1, which has the same of what is marked, but for what each case says.
func TestBackMarked(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(o *rolloutv1alpha1.Order, d, other *deliveryv1alpha1.GitDelivery)
		want   Stop
	}{
		"Same":    {reason: "The target has the same, though the revision before was none to compare with.", change: func(*rolloutv1alpha1.Order, *deliveryv1alpha1.GitDelivery, *deliveryv1alpha1.GitDelivery) {}},
		"Changed": {reason: "The target has something else.", change: func(o *rolloutv1alpha1.Order, _, _ *deliveryv1alpha1.GitDelivery) { o.Marked = "other" }, want: StopIrreversible},
		"Older": {
			reason: "An order of an earlier version says no more than that something may change.", want: StopIrreversible,
			change: func(o *rolloutv1alpha1.Order, _, _ *deliveryv1alpha1.GitDelivery) { o.Marked = "" },
		},
		"Unmarked": {reason: "Nothing is marked.", change: func(o *rolloutv1alpha1.Order, _, _ *deliveryv1alpha1.GitDelivery) { o.Marked, o.Irreversible = "", nil }},
		"Unknown": {
			reason: "The target does not say.", want: StopIrreversible,
			change: func(_ *rolloutv1alpha1.Order, d, other *deliveryv1alpha1.GitDelivery) {
				d.Status.AtProvider.History[0].Marked, other.Status.AtProvider.History[0].Marked = "", ""
			},
		},
		"Disagreed": {
			reason: "Two repositories do not remember the same.", want: StopIrreversible,
			change: func(_ *rolloutv1alpha1.Order, _, other *deliveryv1alpha1.GitDelivery) {
				other.Status.AtProvider.History[0].Marked = "other"
			},
		},
		"NotBefore": {
			reason: "That nothing changes was told of revision 2, and revision 1 has something else.", want: StopIrreversible,
			change: func(o *rolloutv1alpha1.Order, _, _ *deliveryv1alpha1.GitDelivery) {
				o.Marked, o.Irreversible = "other", nil
			},
		},
		"Before": {
			reason: "That nothing changes was told of the target from its files.",
			change: func(o *rolloutv1alpha1.Order, _, _ *deliveryv1alpha1.GitDelivery) {
				o.Revision, o.Marked, o.Irreversible = 2, "other", nil
			},
		},
		"Left": {
			reason: "A directory still has what revision 2 changed.", want: StopIrreversible,
			change: func(_ *rolloutv1alpha1.Order, _, other *deliveryv1alpha1.GitDelivery) {
				other.Status.AtProvider.Trees[0].Revision = 2
			},
		},
		"LeftAlike": {
			reason: "A directory still has what revision 2 brought, which changed nothing of it.",
			change: func(_ *rolloutv1alpha1.Order, _, other *deliveryv1alpha1.GitDelivery) {
				other.Status.AtProvider.Trees[0].Revision = 2
				other.Status.AtProvider.History[1].Marked = "marked"
			},
		},
		"Untold": {
			reason: "A repository did not tell what its directory has.", want: StopUnknown,
			change: func(_ *rolloutv1alpha1.Order, _, other *deliveryv1alpha1.GitDelivery) {
				other.Status.AtProvider = deliveryv1alpha1.GitDeliveryObservation{}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := rejectedAt(3, 0)
			o.Irreversible, o.Marked = new(true), "marked"
			good := remembered(1, verified, 0, "good")
			good.Marked = "marked"
			bad := remembered(2, failure, 1, "worse")
			bad.Marked = "changed"
			d, other := holding(o, "bad", 3, good), holding(o, "bad", 3, good, bad)
			tc.change(&o, d, other)
			for _, part := range []*deliveryv1alpha1.GitDelivery{d, other} {
				part.Spec.ForProvider.Order = o
				if part.Status.AtProvider.Order != nil {
					part.Status.AtProvider.Order = &o
				}
			}
			both := []*deliveryv1alpha1.GitDelivery{d, other}
			r := Retreat{Policy: Policy{Auto: true, MaxRetries: 3}, All: both, Parts: both, Chosen: func(string) bool { return true }}
			if _, stop := Back(o, r); stop != tc.want {
				t.Errorf("\n%s\nBack(...): -want stop, +got stop:\n%s", tc.reason, cmp.Diff(tc.want, stop))
			}
		})
	}
}
