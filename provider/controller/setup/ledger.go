package setup

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
)

// NewestLedger returns the newest state of a deployment's ledger that its GitDeliveries have, or an empty one. It returns an error if they cannot be listed.
func NewestLedger(ctx context.Context, kube client.Reader, group string, deployment types.NamespacedName) (*ledger.State, error) {
	claim := rolloutv1alpha1.ClaimReference{APIGroup: group, Namespace: deployment.Namespace, Name: deployment.Name}
	ds, err := usage.OfClaim(ctx, kube, claim)
	if err != nil {
		return nil, err
	}
	newest := &ledger.State{}
	for i := range ds {
		for _, s := range []*ledger.State{ds[i].Status.AtProvider.Ledger, ds[i].Spec.ForProvider.Copy} {
			if s != nil && s.Compare(newest.Head) > 0 {
				newest = s
			}
		}
	}
	return newest, nil
}
