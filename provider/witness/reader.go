// Package witness reads the objects that are evidence for homes with a mandate: Gates, SiteSyncs, RolloutRequests and the deliveries to other repositories. It
// finds the deliveries that a change of such an object concerns.
package witness

import (
	"context"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/mandate"
)

// maxWitnesses is the maximum number of Gates, and of SiteSyncs, that are read for one controller. A deployment has one SiteSync, and a Gate for each of its 20
// steps.
const maxWitnesses = 64

// maxRequests is the maximum number of open RolloutRequests that are read for one deployment. Up to rolloutv1alpha1.MaxOpen of them have a turn, and a tenant may
// create any number.
const maxRequests = 1000

// Index indexes a kind for a Reader: Gates and SiteSyncs by their controllers, and RolloutRequests that may take effect by their deployments, so that closed
// requests cost nothing.
func Index(ctx context.Context, i client.FieldIndexer, o client.Object) error {
	if _, ok := o.(*rolloutv1alpha1.RolloutRequest); ok {
		return listing.AddIndexes(ctx, i, requestIndex())
	}
	return listing.AddIndexes(ctx, i, controllerIndex(o))
}

// controllerIndex finds the Gates or SiteSyncs, by the kind of an object, of a controller reference's UID.
func controllerIndex(o client.Object) listing.Index {
	return listing.NewIndex(o, "intentplane.gitdelivery.controller", func(o client.Object) []string {
		owner := metav1.GetControllerOfNoCopy(o)
		if owner == nil {
			return nil
		}
		return []string{string(owner.UID)}
	})
}

// requestIndex finds the RolloutRequests of a deployment that may take effect.
func requestIndex() listing.Index {
	return listing.NewIndex(&rolloutv1alpha1.RolloutRequest{}, "intentplane.gitdelivery.deployment", func(r *rolloutv1alpha1.RolloutRequest) []string {
		if !r.MayTakeEffect() {
			return nil
		}
		return []string{deploymentIndexKey(r.Spec.DeploymentRef.APIGroup, r.Spec.DeploymentRef.Name)}
	})
}

func deploymentIndexKey(group, name string) string { return group + "/" + name }

// A Reader reads SiteSyncs, and the Gates and RolloutRequests that are served, from the cache. It is safe for concurrent use.
type Reader struct {
	kube client.Reader
	// hasGates is true once Gates are served, and indexed, and hasRequests is true once RolloutRequests are.
	hasGates, hasRequests atomic.Bool
}

// NewReader returns a Reader that reads no Gates and RolloutRequests yet.
func NewReader(kube client.Reader) *Reader { return &Reader{kube: kube} }

// Enable enables reads of a kind that is served, and indexed.
func (r *Reader) Enable(o client.Object) {
	switch o.(type) {
	case *rolloutv1alpha1.Gate:
		r.hasGates.Store(true)
	case *rolloutv1alpha1.RolloutRequest:
		r.hasRequests.Store(true)
	}
}

// WatchOnceServed watches Gates and RolloutRequests for homes once these kinds are served. They are optional: without them a deployment has no
// measurements and no requests of users, and still delivers. register registers a callback that is called once kinds are served.
func (r *Reader) WatchOnceServed(
	mgr ctrl.Manager, register func(callback func(), kinds ...schema.GroupVersionKind), c controller.Controller, wake handler.EventHandler,
) {
	register(func() { r.watchWitnessKind(mgr, c, &rolloutv1alpha1.Gate{}, wake, HasNewStatement()) }, rolloutv1alpha1.GroupVersion.WithKind("Gate"))
	register(func() { r.watchWitnessKind(mgr, c, &rolloutv1alpha1.RolloutRequest{}, wake, isNewRequest()) }, rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest"))
}

// watchWitnessKind wakes deliveries when a Gate reaches a verdict, or a user creates a RolloutRequest, and enables reads of the kind. An error panics, so that the
// provider does not look healthy: the function leaves these verdicts and requests to it.
func (r *Reader) watchWitnessKind(mgr ctrl.Manager, c controller.Controller, o client.Object, wake handler.EventHandler, p predicate.Predicate) {
	err := Index(context.Background(), mgr.GetFieldIndexer(), o)
	if err == nil {
		r.Enable(o)
		err = c.Watch(source.Kind[client.Object](mgr.GetCache(), o, wake, p))
	}
	if err != nil {
		panic(errors.Wrapf(err, "cannot watch %T", o))
	}
}

// Gather adds the Gates, SiteSyncs and open RolloutRequests of a home to its evidence. It returns an error if the cache cannot be read.
func (r *Reader) Gather(ctx context.Context, f mandate.Facts) (mandate.Facts, error) {
	owner := metav1.GetControllerOfNoCopy(f.Home)
	if owner == nil {
		return f, nil
	}
	gates, syncs := &rolloutv1alpha1.GateList{}, &v1alpha1.SiteSyncList{}
	uid, options := string(owner.UID), []client.ListOption{client.InNamespace(f.Home.GetNamespace()), client.Limit(maxWitnesses)}
	if err := controllerIndex(&v1alpha1.SiteSync{}).List(ctx, r.kube, syncs, uid, options...); err != nil {
		return f, errors.Wrap(err, "cannot list SiteSyncs")
	}
	if r.hasGates.Load() {
		if err := controllerIndex(&rolloutv1alpha1.Gate{}).List(ctx, r.kube, gates, uid, options...); err != nil {
			return f, errors.Wrap(err, "cannot list Gates")
		}
	}
	f.Gates, f.Syncs = gates.Items, syncs.Items
	var err error
	f.Requests, err = r.requestsFor(ctx, f.Home)
	return f, err
}

// requestsFor returns the open RolloutRequests about the deployment of a home that end a revision. It returns an error if the cache cannot be read.
func (r *Reader) requestsFor(ctx context.Context, home *v1alpha1.GitDelivery) ([]step.Request, error) {
	if !r.hasRequests.Load() {
		return nil, nil
	}
	claim, all := home.Spec.ForProvider.ClaimRef, &rolloutv1alpha1.RolloutRequestList{}
	err := requestIndex().List(ctx, r.kube, all, deploymentIndexKey(claim.APIGroup, claim.Name), client.InNamespace(home.GetNamespace()), client.Limit(maxRequests))
	if err != nil {
		return nil, errors.Wrap(err, "cannot list RolloutRequests")
	}
	return mandate.RequestsOf(home, all.Items), nil
}
