// Package secret keeps a finalizer on Secrets while a managed resource needs them.
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
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/usage"
)

const name = "secret"

// Setup adds a controller of the Secrets that configurations name to the manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	u := users{kube: mgr.GetClient()}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: &Reconciler{kube: mgr.GetClient(), users: u, recorder: setup.NewRecorder(mgr, name)}, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder {
			// The cache holds the metadata of Secrets only, not their data.
			return b.WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(u.requestsForSecret)).
				Watches(&deliveryv1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(u.requestsForDelivery), builder.WithPredicates(configChanged())).
				Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(requestsForConfig), changed).
				Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(requestsForConfig), changed)
		},
	})
	return err
}

// A Reconciler keeps a finalizer on each Secret that a GitDelivery needs. A user who deletes a claim, its configuration and its Secret at
// once still gets a repository that is cleaned up. The Reconciler does not touch other finalizers.
type Reconciler struct {
	// kube reads metadata of Secrets from the API server, since the reading client caches nothing about Secrets.
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
	users, err := r.users.deliveriesUsing(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(users) == 0 {
		return reconcile.Result{}, r.removeFinalizer(ctx, s)
	}
	if meta.WasDeleted(s) {
		r.reportUsers(s, users)
		return reconcile.Result{}, nil // It is requeued when its last user is deleted. The API server refuses to add a finalizer that is missing.
	}
	return reconcile.Result{}, r.addFinalizer(ctx, s)
}

// reportUsers records an event that names the users that block the deletion of a Secret. A Secret without our finalizer waits for other
// controllers.
func (r *Reconciler) reportUsers(s *metav1.PartialObjectMetadata, users []deliveryv1alpha1.GitDelivery) {
	if meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		r.recorder.Event(s, xpevent.Warning(xpevent.Reason(configv1alpha1.ReasonInUse), errors.New(usage.Describe("Secret", users))))
	}
}

func (r *Reconciler) addFinalizer(ctx context.Context, s *metav1.PartialObjectMetadata) error {
	if meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		return nil
	}
	original := s.DeepCopy()
	meta.AddFinalizer(s, configv1alpha1.Finalizer)
	return errors.Wrap(r.kube.Patch(ctx, s, optimisticPatch(original)), "cannot add finalizer to Secret")
}

func (r *Reconciler) removeFinalizer(ctx context.Context, s *metav1.PartialObjectMetadata) error {
	if !meta.FinalizerExists(s, configv1alpha1.Finalizer) {
		return nil
	}
	original := s.DeepCopy()
	meta.RemoveFinalizer(s, configv1alpha1.Finalizer)
	return errors.Wrap(client.IgnoreNotFound(r.kube.Patch(ctx, s, optimisticPatch(original))), "cannot remove finalizer from Secret")
}

// optimisticPatch returns a patch that fails if the object has changed: it replaces the whole list of finalizers, including the finalizers of
// other controllers.
func optimisticPatch(original client.Object) client.Patch {
	return client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{})
}
