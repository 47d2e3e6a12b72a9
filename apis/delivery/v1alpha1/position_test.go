package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestPositions reads positions from deliveries.
func TestPositions(t *testing.T) {
	other := ledger.Position{Epoch: 5, Revision: 6, Attempt: 7, Step: 8, Stage: 1}
	recorded := ledger.State{Head: ledger.Head{Epoch: 2}, Current: &ledger.Revision{Number: 9}, Cursor: ledger.Cursor{Step: 1}}
	cases := map[string]struct {
		reason string
		got    ledger.Position
		want   ledger.Position
	}{
		"DeliveryPosition": {reason: "A delivery asks for its position, whatever the ledger is at.", got: v1alpha1.GitDeliveryParameters{Position: &other, Copy: &recorded}.AskedPosition(), want: other},
		"DeliveryCopy":     {reason: "A delivery without a position asks for the one of its copy.", got: v1alpha1.GitDeliveryParameters{Copy: &recorded}.AskedPosition(), want: ledger.Position{Epoch: 2, Revision: 9, Step: 1}},
		"AppliedRecord":    {reason: "A repository was brought to the position of its record.", got: v1alpha1.GitDeliveryObservation{Record: &v1alpha1.LedgerRecord{Position: other}}.AppliedPosition(), want: other},
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
