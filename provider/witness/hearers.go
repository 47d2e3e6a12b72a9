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
// delivery of it, the other deliveries for the home, and those of them that follow it in tracks for a SiteSync. It returns an error if they cannot be listed.
func Hearers(ctx context.Context, r client.Reader, o client.Object) ([]v1alpha1.GitDelivery, error) {
	claim := claimOfObject(o)
	ds, err := usage.OfClaim(ctx, r, claim)
	return slices.DeleteFunc(ds, func(d v1alpha1.GitDelivery) bool {
		if request, ok := o.(*rolloutv1alpha1.RolloutRequest); ok {
			return d.Spec.ForProvider.Mandate == nil || !mandate.IsRequestFor(request, &d)
		}
		return !isDeliveryWokenBy(&d, o) || !mandate.IsWitness(o, claim, &d)
	}), err
}

// isDeliveryWokenBy is true for a delivery that a changed object concerns: a follower if the object is the home, a follower in tracks if it is a SiteSync, otherwise a home
// with a mandate.
func isDeliveryWokenBy(d *v1alpha1.GitDelivery, o client.Object) bool {
	switch o := o.(type) {
	case *v1alpha1.GitDelivery:
		if o.Spec.ForProvider.Ledger != nil {
			return d.Spec.ForProvider.Copy != nil
		}
	case *v1alpha1.SiteSync:
		return d.Spec.ForProvider.Mandate != nil || followsInTracks(d)
	}
	return d.Spec.ForProvider.Mandate != nil
}

// followsInTracks is true for a follower at a position of the home whose directories have tracks: the requests move once the pods of a track are available.
func followsInTracks(d *v1alpha1.GitDelivery) bool {
	hasTracks := func(t v1alpha1.DeliveredTree) bool { return len(t.Tracks) > 0 }
	return d.Status.AtProvider.Follows != nil && slices.ContainsFunc(d.Status.AtProvider.Trees, hasTracks)
}

func claimOfObject(o client.Object) rolloutv1alpha1.ClaimReference {
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
