package disruption

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

func TestStatusWiped(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	claim := awaitSecondRevision(s)
	previous := s.Delivery()

	s.Patch(s.DeliveryNamed(previous.GetName()), `{"status": null}`, "status")
	current := s.AwaitDelivery("with its memory back", func(d *deliveryv1alpha1.GitDelivery) bool {
		return isDeliveryReady(d) && d.Status.AtProvider.Record != nil
	})
	if diff := cmp.Diff(previous.Status.AtProvider, current.Status.AtProvider, withoutEndTimes()); diff != "" {
		t.Errorf("status.atProvider: -want, +got:\n%s", diff)
	}
	if len(current.Status.AtProvider.History) != 2 {
		t.Errorf("want a history of 2 revisions, found %d", len(current.Status.AtProvider.History))
	}
	wantSameOutcome(s, claim)
}

func TestDeliveryLost(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	claim := awaitSecondRevision(s)
	previous := s.Delivery()

	cp.KillProvider()
	deleted := s.DeliveryNamed(previous.GetName())
	s.Patch(deleted, `{"metadata": {"finalizers": null}}`)
	s.Delete(deleted)
	s.AwaitDelivery("made again", func(d *deliveryv1alpha1.GitDelivery) bool { return d.GetUID() != previous.GetUID() })
	startProvider(t)

	// The function composes the mandate anew once the status has the ledger again.
	current := s.AwaitDelivery("with its memory and its mandate back", func(d *deliveryv1alpha1.GitDelivery) bool {
		mandate := d.Spec.ForProvider.Mandate
		return isDeliveryReady(d) && d.GetUID() != previous.GetUID() && d.Status.AtProvider.Record != nil &&
			mandate != nil && mandate.Revision == previous.Spec.ForProvider.Mandate.Revision
	})
	if diff := cmp.Diff(previous.Spec.ForProvider, current.Spec.ForProvider, cmpopts.EquateEmpty(), withoutEvents()); diff != "" {
		t.Errorf("spec.forProvider: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(previous.Status.AtProvider, current.Status.AtProvider, withoutEndTimes()); diff != "" {
		t.Errorf("status.atProvider: -want, +got:\n%s", diff)
	}
	wantSameOutcome(s, claim)
}
