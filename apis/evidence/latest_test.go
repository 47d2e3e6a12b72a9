package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestLatestPosition has a SiteSync of step 1 of revision 2, whose status is about some position.
func TestLatestPosition(t *testing.T) {
	requested := ledger.Position{Epoch: 1, Revision: 2, Step: 1}
	cases := map[string]struct {
		reason   string
		observed ledger.Position
		follows  bool
	}{
		"Same": {reason: "A SiteSync observes the position of its spec.", observed: requested},
		"Step": {
			reason:   "A SiteSync followed the ledger to a later step.",
			observed: ledger.Position{Epoch: 1, Revision: 2, Step: 2},
			follows:  true,
		},
		"Rollback": {
			reason:   "A SiteSync followed the ledger to a rollback.",
			observed: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1},
			follows:  true,
		},
		"Withdraw": {
			reason:   "A SiteSync followed the ledger to a rollback that a user requested.",
			observed: ledger.Position{Epoch: 1, Revision: 3, Attempt: 1},
			follows:  true,
		},
		"Earlier": {reason: "A status about an earlier step is out of date.", observed: ledger.Position{Epoch: 1, Revision: 2}},
		"Previous": {
			reason:   "A status about the rollback of an earlier revision is out of date.",
			observed: ledger.Position{Epoch: 1, Revision: 1, Attempt: 2},
		},
		"Next":  {reason: "A SiteSync follows no later revision.", observed: ledger.Position{Epoch: 1, Revision: 3}},
		"Epoch": {reason: "A status of another epoch is out of date.", observed: ledger.Position{Epoch: 2, Revision: 2, Step: 2}},
		"None":  {reason: "A SiteSync without a status has the position of its spec."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &deliveryv1alpha1.SiteSync{}
			s.Spec.ForProvider.Position, s.Status.AtProvider.Position = &requested, &tc.observed
			s.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "edge1", Tree: "requested"}, {Name: "edge2", Tree: "requested"}}
			s.Status.AtProvider.Sites = []deliveryv1alpha1.SiteObservation{
				{Name: "edge1", Tree: "applied"}, {Name: "edge2", Tree: "applied", DesiredTree: "desired"},
			}
			want, wantTrees := requested, map[string]string{"edge1": "requested", "edge2": "requested"}
			if tc.follows {
				want, wantTrees = tc.observed, map[string]string{"edge1": "applied", "edge2": "desired"}
			}
			if got := LatestPosition(s); got != want {
				t.Errorf("\n%s\nLatestPosition(): want %v, got %v", tc.reason, want, got)
			}
			if diff := cmp.Diff(wantTrees, LatestTrees(s)); diff != "" {
				t.Errorf("\n%s\nLatestTrees(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
