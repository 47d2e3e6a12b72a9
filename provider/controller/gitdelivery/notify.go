package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// notifyOwner notifies the owner of a directory, once, that another delivery wants it. The owner keeps the directory, and what it delivers is not
// affected: so it gets an event, and not a condition. An owner in another cluster cannot be notified.
func (e *external) notifyOwner(ctx context.Context, d *v1alpha1.GitDelivery) error {
	m := e.decision.owner
	if m == nil || m.ClusterUID != e.clusterUID || d.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonNotOwner {
		return nil
	}
	all := &v1alpha1.GitDeliveryList{}
	if err := e.kube.List(ctx, all, client.InNamespace(m.Claim.Namespace)); err != nil {
		return errors.Wrap(err, "cannot list GitDeliveries of the owner")
	}
	for i := range all.Items {
		c := all.Items[i].Spec.ForProvider.ClaimRef
		c.UID = ""
		if c == m.Claim {
			err := errors.Errorf("GitDelivery %s/%s wants a directory of this claim, and is refused: %s", d.GetNamespace(), d.GetName(), e.decision.message)
			e.recorder.Event(&all.Items[i], event.Warning(event.Reason(v1alpha1.ReasonNotOwner), err))
		}
	}
	return nil
}
