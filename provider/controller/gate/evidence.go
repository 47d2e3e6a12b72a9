package gate

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/verdict"
	"github.com/intentplane/intentplane/provider/usage"
)

// gatherEvidence gathers the evidence of a Gate, from the cache. It returns an error if the API server cannot be asked.
func (e *external) gatherEvidence(ctx context.Context, namespace string, spec v1alpha1.GateParameters) (verdict.Evidence, error) {
	out := verdict.Evidence{Spec: spec}
	var err error
	if out.Sync, err = e.findSiteSync(ctx, namespace, spec); err != nil {
		return verdict.Evidence{}, err
	}
	out.Deliveries, err = usage.OfClaim(ctx, e.kube, spec.ClaimRef)
	return out, err
}

// findSiteSync returns the SiteSync that a Gate names, or else the SiteSync of its claim, or nil.
func (e *external) findSiteSync(ctx context.Context, namespace string, spec v1alpha1.GateParameters) (*deliveryv1alpha1.SiteSync, error) {
	if spec.SiteSyncRef != nil {
		s := &deliveryv1alpha1.SiteSync{}
		err := e.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: spec.SiteSyncRef.Name}, s)
		if kerrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // It proves nothing.
		}
		return s, errors.Wrapf(err, "cannot get SiteSync %q", spec.SiteSyncRef.Name)
	}
	syncs, err := usage.SyncsOfClaim(ctx, e.kube, namespace, spec.ClaimRef)
	if err != nil || len(syncs) == 0 {
		return nil, err // Without a SiteSync nothing is proven.
	}
	return &syncs[0], nil
}
