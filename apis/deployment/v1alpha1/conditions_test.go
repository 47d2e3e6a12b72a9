package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestReasonDeliveryRefused compares a reason, whose value the reference is generated from, with the reason that the ledger decides by.
func TestReasonDeliveryRefused(t *testing.T) {
	if diff := cmp.Diff(ledger.RejectedDelivery, ReasonDeliveryRefused); diff != "" {
		t.Errorf("\nA revision that is rejected shows the reason of its verdict.\n-RejectedDelivery, +ReasonDeliveryRefused:\n%s", diff)
	}
}
