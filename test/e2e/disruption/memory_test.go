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
	before := s.Delivery()

	s.Patch(s.DeliveryNamed(before.GetName()), `{"status": null}`, "status")
	after := s.AwaitDelivery("with its memory back", func(d *deliveryv1alpha1.GitDelivery) bool {
		return isReady(d) && d.Status.AtProvider.Record != nil
	})
	if diff := cmp.Diff(before.Status.AtProvider, after.Status.AtProvider, withoutEndTimes()); diff != "" {
		t.Errorf("status.atProvider: -want, +got:\n%s", diff)
	}
	if len(after.Status.AtProvider.History) != 2 {
		t.Errorf("want a history of 2 revisions, found %d", len(after.Status.AtProvider.History))
	}
	wantSameOutcome(s, claim)
}

func TestDeliveryLost(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	claim := awaitSecondRevision(s)
	before := s.Delivery()

	cp.KillProvider()
	lost := s.DeliveryNamed(before.GetName())
	s.Patch(lost, `{"metadata": {"finalizers": null}}`)
	s.Delete(lost)
	s.AwaitDelivery("made again", func(d *deliveryv1alpha1.GitDelivery) bool { return d.GetUID() != before.GetUID() })
	startProvider(t)

	after := s.AwaitDelivery("with its memory back", func(d *deliveryv1alpha1.GitDelivery) bool {
		return isReady(d) && d.GetUID() != before.GetUID() && d.Status.AtProvider.Record != nil
	})
	if diff := cmp.Diff(before.Spec.ForProvider, after.Spec.ForProvider, cmpopts.EquateEmpty(), withoutEvents()); diff != "" {
		t.Errorf("spec.forProvider: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(before.Status.AtProvider, after.Status.AtProvider, withoutEndTimes()); diff != "" {
		t.Errorf("status.atProvider: -want, +got:\n%s", diff)
	}
	wantSameOutcome(s, claim)
}
