package witness

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

// Hearers returns the deliveries that a changed object concerns: the home of a deployment with a mandate, for a Gate, a SiteSync, a RolloutRequest or another
// delivery of it, and the other deliveries for the home. It returns an error if they cannot be listed.
func Hearers(ctx context.Context, r client.Reader, o client.Object) ([]v1alpha1.GitDelivery, error) {
	claim := claimOf(o)
	ds, err := usage.OfClaim(ctx, r, claim)
	return slices.DeleteFunc(ds, func(d v1alpha1.GitDelivery) bool {
		if request, ok := o.(*rolloutv1alpha1.RolloutRequest); ok {
			return d.Spec.ForProvider.Mandate == nil || !mandate.IsRequestFor(request, &d)
		}
		return !hears(&d, o) || !mandate.IsWitness(o, claim, &d)
	}), err
}

// hears is true for a delivery that a changed object concerns: a follower if the object is the home, otherwise a home with a mandate.
func hears(d *v1alpha1.GitDelivery, o client.Object) bool {
	if home, ok := o.(*v1alpha1.GitDelivery); ok && home.Spec.ForProvider.Ledger != nil {
		return d.Spec.ForProvider.Copy != nil
	}
	return d.Spec.ForProvider.Mandate != nil
}

func claimOf(o client.Object) rolloutv1alpha1.ClaimReference {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return o.Spec.ForProvider.ClaimRef
	case *v1alpha1.SiteSync:
		return o.Spec.ForProvider.ClaimRef
	case *v1alpha1.GitDelivery:
		return o.Spec.ForProvider.ClaimRef
	case *rolloutv1alpha1.RolloutRequest:
		ref := o.Spec.DeploymentRef
		return rolloutv1alpha1.ClaimReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Namespace: o.GetNamespace(), Name: ref.Name}
	}
	return rolloutv1alpha1.ClaimReference{}
}
