package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestPositions reads positions from what says them directly, and from orders.
func TestPositions(t *testing.T) {
	order := rolloutv1alpha1.Order{Epoch: 1, Revision: 2, Attempt: 3, Step: 4}
	ofOrder, other := ledger.Position{Epoch: 1, Revision: 2, Attempt: 3, Step: 4}, ledger.Position{Epoch: 5, Revision: 6, Attempt: 7, Step: 8, Stage: 1}
	recorded := ledger.State{Head: ledger.Head{Epoch: 2}, Current: &ledger.Revision{Number: 9}, Cursor: ledger.Cursor{Step: 1}}
	cases := map[string]struct {
		reason string
		got    ledger.Position
		want   ledger.Position
	}{
		"DeliveryOrder":    {reason: "A delivery asks for the position of its order.", got: v1alpha1.GitDeliveryParameters{Order: order}.AskedPosition(), want: ofOrder},
		"DeliveryPosition": {reason: "A delivery asks for its position, whatever the ledger is at.", got: v1alpha1.GitDeliveryParameters{Position: &other, Copy: &recorded}.AskedPosition(), want: other},
		"DeliveryCopy":     {reason: "A delivery without a position asks for the one of its copy.", got: v1alpha1.GitDeliveryParameters{Copy: &recorded}.AskedPosition(), want: ledger.Position{Epoch: 2, Revision: 9, Step: 1}},
		"AppliedOrder":     {reason: "A repository without a ledger was brought to the position of its order.", got: v1alpha1.GitDeliveryObservation{Order: &order}.AppliedPosition(), want: ofOrder},
		"AppliedRecord":    {reason: "The record of a repository counts before an order.", got: v1alpha1.GitDeliveryObservation{Order: &order, Record: &v1alpha1.LedgerRecord{Position: other}}.AppliedPosition(), want: other},
		"AppliedNothing":   {reason: "A repository that was brought to nothing has no position.", got: v1alpha1.GitDeliveryObservation{}.AppliedPosition()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
