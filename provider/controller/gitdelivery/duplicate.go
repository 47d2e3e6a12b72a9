package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// hasTwin is true for a delivery of a composite with a second delivery to the same repository that is not deleted. A composite whose delivery was lost may
// compose it by two names, one after the other. Ledger and directories of the repository belong to the remaining delivery.
func (e *external) hasTwin(ctx context.Context, d *v1alpha1.GitDelivery) (bool, error) {
	all, err := e.gatherer.DeliveriesOf(ctx, d.Spec.ForProvider.ClaimRef)
	if err != nil {
		return false, err
	}
	for i := range all {
		if !isTwin(d, &all[i]) {
			continue
		}
		stays, err := e.stays(ctx, &all[i])
		if stays || err != nil {
			return stays, err
		}
	}
	return false, nil
}

// isTwin is true for two deliveries of one composite to the repository of one configuration.
func isTwin(a, b *v1alpha1.GitDelivery) bool {
	owner, otherOwner := metav1.GetControllerOf(a), metav1.GetControllerOf(b)
	isSameOwner := owner != nil && otherOwner != nil && owner.UID == otherOwner.UID
	configRef, otherConfigRef := a.Spec.ProviderConfigReference, b.Spec.ProviderConfigReference
	return a.GetUID() != b.GetUID() && isSameOwner && configRef != nil && otherConfigRef != nil && *configRef == *otherConfigRef
}

// stays is true for an object that the API server has, and that is not being deleted. It reads without the cache: for two twins that are deleted at once,
// the cache might show each as existing, and neither would remove the directories.
func (e *external) stays(ctx context.Context, d *v1alpha1.GitDelivery) (bool, error) {
	current := &metav1.PartialObjectMetadata{}
	current.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("GitDelivery"))
	err := e.live.Get(ctx, client.ObjectKeyFromObject(d), current)
	if kerrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && current.GetUID() == d.GetUID() && !meta.WasDeleted(current), errors.Wrapf(err, "cannot get GitDelivery %s", d.GetName())
}
