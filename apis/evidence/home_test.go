package evidence

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// newLeader returns a home whose ledger is at the second step of revision 2 by a mandate, and a SiteSync of the first step.
func newLeader() (*deliveryv1alpha1.GitDelivery, *deliveryv1alpha1.SiteSync) {
	s := ledger.State{Head: ledger.Head{Ledger: "demo", Epoch: 1, Seq: 4, ID: "advanced"}, Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1}}
	home, sync := &deliveryv1alpha1.GitDelivery{}, &deliveryv1alpha1.SiteSync{}
	home.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
	home.Spec.ForProvider.Mandate = &deliveryv1alpha1.Mandate{Ledger: "demo", Epoch: 1, Revision: 2}
	home.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1"}}
	home.Status.AtProvider = deliveryv1alpha1.GitDeliveryObservation{
		Ledger: &s, Mandate: &deliveryv1alpha1.MandateStatus{Revision: 2}, Trees: []deliveryv1alpha1.DeliveredTree{{Site: "edge1"}},
	}
	sync.Spec.ForProvider.Position = &ledger.Position{Epoch: 1, Revision: 2}
	return home, sync
}

// TestLeadingHome changes one thing at a time about a home that leads a SiteSync.
func TestLeadingHome(t *testing.T) {
	type (
		delivery = deliveryv1alpha1.GitDelivery
		siteSync = deliveryv1alpha1.SiteSync
	)
	cases := map[string]struct {
		reason string
		change func(home *delivery, sync *siteSync) []*delivery
		want   bool
	}{
		"Leads": {reason: "A home that acts by its mandate leads the SiteSync.", want: true},
		"Same": {
			reason: "A home at the position of the SiteSync leads it: a user may release the step.",
			change: func(_ *delivery, sync *siteSync) []*delivery {
				sync.Spec.ForProvider.Position.Step = 1
				return nil
			},
			want: true,
		},
		"Behind": {reason: "A home at an earlier position leads no SiteSync.", change: func(_ *delivery, sync *siteSync) []*delivery {
			sync.Spec.ForProvider.Position.Step = 2
			return nil
		}},
		"Silent": {reason: "A home that shows no mandate leads no SiteSync.", change: func(home *delivery, _ *siteSync) []*delivery {
			home.Status.AtProvider.Mandate = nil
			return nil
		}},
		"Followed": {reason: "A SiteSync that followed the home stays with it.", change: func(home *delivery, sync *siteSync) []*delivery {
			home.Status.AtProvider.Mandate, sync.Status.AtProvider.Position = nil, &ledger.Position{Epoch: 1, Revision: 2, Step: 1}
			return nil
		}, want: true},
		"Rejected": {
			reason: "A rejected revision leads nowhere before its rollback begins.",
			change: func(home *delivery, _ *siteSync) []*delivery {
				home.Status.AtProvider.Ledger.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected}
				return nil
			},
		},
		"RejectedFollowed": {
			reason: "A SiteSync that followed stays at its position while a rejected revision waits for its rollback.",
			change: func(home *delivery, sync *siteSync) []*delivery {
				home.Status.AtProvider.Ledger.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected}
				sync.Status.AtProvider.Position = &ledger.Position{Epoch: 1, Revision: 2, Step: 1}
				return nil
			},
			want: true,
		},
		"Rollback": {reason: "A rollback leads the SiteSync.", change: func(home *delivery, _ *siteSync) []*delivery {
			s := home.Status.AtProvider.Ledger
			s.Verdict, s.Cursor.Attempt = &ledger.Verdict{Result: ledger.VerdictRejected}, 1
			return nil
		}, want: true},
		"Deleted": {reason: "A home that is being deleted leads no SiteSync.", change: func(home *delivery, _ *siteSync) []*delivery {
			home.DeletionTimestamp = &metav1.Time{}
			return nil
		}},
		"NoTrees": {reason: "A home that shows no trees leads no SiteSync.", change: func(home *delivery, _ *siteSync) []*delivery {
			home.Status.AtProvider.Trees = nil
			return nil
		}},
		"Empty": {
			reason: "A home without Sites leads the SiteSync of other repositories.",
			change: func(home *delivery, _ *siteSync) []*delivery {
				home.Spec.ForProvider.Trees, home.Status.AtProvider.Trees = nil, nil
				return nil
			},
			want: true,
		},
		"TwoHomes": {reason: "None of two homes leads a SiteSync.", change: func(home *delivery, _ *siteSync) []*delivery {
			return []*delivery{home.DeepCopy()}
		}},
		"Superseded": {reason: "A home leads no SiteSync while a later epoch is known.", change: func(home *delivery, _ *siteSync) []*delivery {
			later := home.DeepCopy()
			later.Spec.ForProvider.Ledger, later.Status.AtProvider.Ledger.Epoch = nil, 2
			return []*delivery{later}
		}},
		"Closed": {reason: "A closed ledger of a later epoch supersedes nothing.", change: func(home *delivery, _ *siteSync) []*delivery {
			later := home.DeepCopy()
			later.Spec.ForProvider.Ledger, later.Status.AtProvider.Ledger.Epoch, later.Status.AtProvider.Ledger.IsClosed = nil, 2, true
			return []*delivery{later}
		}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			home, sync := newLeader()
			siblings := []*deliveryv1alpha1.GitDelivery{{}, home}
			if tc.change != nil {
				siblings = append(siblings, tc.change(home, sync)...)
			}
			if got := LeadingHome(siblings, sync); (got != nil) != tc.want || got != nil && got != home {
				t.Errorf("\n%s\nLeadingHome(...): want %t, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
