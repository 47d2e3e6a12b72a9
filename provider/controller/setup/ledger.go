package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/listing"
)

// NewestLedger returns the newest state of a deployment's ledger that its GitDeliveries have, or an empty one. It returns an error if they cannot be listed.
func NewestLedger(ctx context.Context, kube client.Reader, group string, deployment types.NamespacedName) (*ledger.State, error) {
	l := &deliveryv1alpha1.GitDeliveryList{}
	if err := listing.Cached(ctx, kube, l, client.InNamespace(deployment.Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list GitDeliveries")
	}
	newest := &ledger.State{}
	for i := range l.Items {
		claimRef := l.Items[i].Spec.ForProvider.ClaimRef
		if claimRef.APIGroup != group || claimRef.Name != deployment.Name {
			continue
		}
		for _, s := range []*ledger.State{l.Items[i].Status.AtProvider.Ledger, l.Items[i].Spec.ForProvider.Copy} {
			if s != nil && s.Compare(newest.Head) > 0 {
				newest = s
			}
		}
	}
	return newest, nil
}
