// Package secret holds Secrets while a managed resource needs what is in them.
package secret

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
)

const name = "secret"

// Setup adds a controller of the Secrets that configurations name to the manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	u := users{kube: mgr.GetClient()}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		// Only who a Secret is, not what is in it, is kept in memory.
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(u.ofSecret)).
		Watches(&deliveryv1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(u.ofDelivery), builder.WithPredicates(renamed())).
		Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(ofConfig), changed).
		Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(ofConfig), changed).
		Complete(&Reconciler{kube: mgr.GetClient(), users: u, recorder: xpevent.NewAPIRecorder(mgr.GetEventRecorderFor(name))})
	return errors.Wrapf(err, "cannot add controller %s", name)
}

// A Reconciler keeps a finalizer on each Secret that a GitDelivery needs, so that whoever deletes a claim, its configuration and
// its Secret at once gets a repository that is cleaned up. It is the only one who may say that a Secret is free: no other finalizer
// is touched.
type Reconciler struct {
	// kube reads metadata of Secrets from the API server, since nothing about Secrets is cached for reading.
	kube  client.Client
	users users
	// recorder of the event on a Secret whose deletion waits: a Secret has no status.
	recorder xpevent.Recorder
}

// Reconcile one Secret.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.kube.Get(ctx, req.NamespacedName, s); err != nil {
		return reconcile.Result{}, errors.Wrapf(client.IgnoreNotFound(err), "cannot get metadata of Secret")
	}
	users, err := r.users.of(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(users) == 0 {
		return reconcile.Result{}, r.release(ctx, s)
	}
	if meta.WasDeleted(s) {
		r.reportUse(s, users)
		return reconcile.Result{}, nil // Woken when its last user goes. A finalizer that is missing can no longer be added.
	}
	return reconcile.Result{}, r.hold(ctx, s)
}

// reportUse says as an event what the deletion of a Secret waits for. One that is not held waits for others.
func (r *Reconciler) reportUse(s *metav1.PartialObjectMetadata, users []deliveryv1alpha1.GitDelivery) {
	if meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		r.recorder.Event(s, xpevent.Warning(xpevent.Reason(configv1alpha1.ReasonInUse), errors.New(usage.Describe("Secret", users))))
	}
}

func (r *Reconciler) hold(ctx context.Context, s *metav1.PartialObjectMetadata) error {
	if meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		return nil
	}
	before := s.DeepCopy()
	meta.AddFinalizer(s, configv1alpha1.Finalizer)
	return errors.Wrap(r.kube.Patch(ctx, s, from(before)), "cannot add finalizer to Secret")
}

func (r *Reconciler) release(ctx context.Context, s *metav1.PartialObjectMetadata) error {
	if !meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		return nil
	}
	before := s.DeepCopy()
	meta.RemoveFinalizer(s, configv1alpha1.Finalizer)
	return errors.Wrap(client.IgnoreNotFound(r.kube.Patch(ctx, s, from(before))), "cannot remove finalizer from Secret")
}

// from makes patches that fail if the object has changed: a patch replaces the whole list of finalizers, those of others too.
func from(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
