package gitdelivery

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

// deploymentField is the index of RolloutRequests by their deployment.
const deploymentField = "intentplane.gitdelivery.deployment"

// indexRequests indexes RolloutRequests that may take effect by their deployments, so that closed requests cost nothing.
func indexRequests(ctx context.Context, i client.FieldIndexer) error {
	err := i.IndexField(ctx, &rolloutv1alpha1.RolloutRequest{}, deploymentField, deploymentIndexKeys)
	return errors.Wrap(err, "cannot index RolloutRequests by deployment")
}

func deploymentIndexKeys(o client.Object) []string {
	r, ok := o.(*rolloutv1alpha1.RolloutRequest)
	if !ok || !r.MayTakeEffect() {
		return nil
	}
	return []string{deploymentIndexKey(r.Spec.DeploymentRef.APIGroup, r.Spec.DeploymentRef.Name)}
}

func deploymentIndexKey(group, name string) string { return group + "/" + name }

// watchRequests requeues homes when a user creates a RolloutRequest, and enables reads of RolloutRequests. An error panics, so that the provider does not
// look healthy: the function leaves these requests to it.
func (r *witnessReader) watchRequests(mgr ctrl.Manager, c controller.Controller, wake handler.EventHandler) {
	err := indexRequests(context.Background(), mgr.GetFieldIndexer())
	if err == nil {
		r.hasRequests.Store(true)
		err = c.Watch(source.Kind[client.Object](mgr.GetCache(), &rolloutv1alpha1.RolloutRequest{}, wake, wasAsked()))
	}
	if err != nil {
		panic(errors.Wrap(err, "cannot watch RolloutRequests"))
	}
}

// gatherRequests returns the open RolloutRequests about the deployment of a home that end a revision. It returns an error if the cache cannot be read.
func (e *external) gatherRequests(ctx context.Context, home *v1alpha1.GitDelivery) ([]step.Request, error) {
	if !e.witnesses.hasRequests.Load() {
		return nil, nil
	}
	claim, all := home.Spec.ForProvider.ClaimRef, &rolloutv1alpha1.RolloutRequestList{}
	err := listing.Cached(ctx, e.witnesses.kube, all, client.InNamespace(home.GetNamespace()),
		client.MatchingFields{deploymentField: deploymentIndexKey(claim.APIGroup, claim.Name)})
	if err != nil {
		return nil, errors.Wrap(err, "cannot list RolloutRequests")
	}
	return mandate.RequestsOf(home, all.Items), nil
}

// requestsForRollout requeues the home of a deployment with a mandate, for a RolloutRequest about the deployment.
func (w waker) requestsForRollout(ctx context.Context, o client.Object) []reconcile.Request {
	r, ok := o.(*rolloutv1alpha1.RolloutRequest)
	if !ok {
		return nil
	}
	ref := r.Spec.DeploymentRef
	claim := rolloutv1alpha1.ClaimReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Namespace: r.GetNamespace(), Name: ref.Name}
	ds, err := usage.OfClaim(ctx, w.kube, claim)
	return w.newRequests(slices.DeleteFunc(ds, func(d v1alpha1.GitDelivery) bool {
		return d.Spec.ForProvider.Mandate == nil || !mandate.IsRequestFor(r, &d)
	}), err)
}

// wasAsked selects new RolloutRequests: their spec never changes, and the provider's own status updates request nothing.
func wasAsked() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return isOpenRequest(e.Object) },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isOpenRequest(o client.Object) bool {
	r, ok := o.(*rolloutv1alpha1.RolloutRequest)
	return ok && !r.IsClosed()
}
