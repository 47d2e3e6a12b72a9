package notification

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/notification"
)

// Options of the controllers.
type Options struct {
	// Receivers are the clients of receivers. Required.
	Receivers *fetch.Clients

	// Hosts to which notifications of ProviderConfigs may be posted: names, or *. and a domain. Empty means none.
	Hosts []string

	// Namespace of the provider, in which the marks are.
	Namespace string

	// Counter of notifications.
	Counter Counter
}

// Setup adds a controller for each API group of deployments to the manager, once the group is served, which may be never. The kinds of configurations and
// GitDeliveries are served already, and GitDeliveries are indexed. It returns an error if the configurations cannot be indexed.
func Setup(mgr ctrl.Manager, o controller.Options, n Options) error {
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), indexes()...); err != nil {
		return err
	}
	poster, marks := notification.NewPoster(n.Receivers), newMarksBooks(mgr.GetClient(), n.Namespace, o.Logger)
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		gvk := schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
		o.Gate.Register(func() {
			if err := addController(mgr, o, n, poster, marks, gvk); err != nil {
				// The callback cannot return an error, and without the controller no outcome would be posted.
				panic(errors.Wrap(err, "cannot set up notifications"))
			}
		}, gvk)
	}
	return nil
}

func addController(mgr ctrl.Manager, o controller.Options, n Options, poster Poster, marks *books, gvk schema.GroupVersionKind) error {
	name := "notification/" + gvk.GroupKind().String()
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(gvk)
	events := &setup.EventSource{}
	r := &Reconciler{
		kube: mgr.GetClient(), live: mgr.GetAPIReader(), gvk: gvk, books: marks, hosts: n.Hosts, poster: poster, counter: n.Counter,
		now: time.Now, log: o.Logger.WithValues("controller", name), notes: newNoteMemory(), wake: events.Wake,
	}
	events.Wake(types.NamespacedName{}) // The marks of all namespaces.
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: errors.WithSilentRequeueOnConflict(r), Events: events, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(partial, builder.OnlyMetadata).
				Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.requestsForAll), changed).
				Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.requestsForTenant), changed)
		},
	})
	return err
}

// requestsForTenant returns the request for the marks of the namespace of a ProviderConfig that changed, whose reconcile wakes the deployments that may name it.
// A tenant may write any number of both, and all namespaces wait for the requests of an event.
func (r *Reconciler) requestsForTenant(_ context.Context, config client.Object) []reconcile.Request {
	r.changed.Store(config.GetNamespace(), true)
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: config.GetNamespace()}}}
}

// requestsForAll returns the requests for a ClusterProviderConfig that changed: for its receivers, and for all deployments.
func (r *Reconciler) requestsForAll(ctx context.Context, _ client.Object) []reconcile.Request {
	out := []reconcile.Request{{}}
	deployments, err := r.listDeployments(ctx, "")
	if err != nil {
		r.log.Info("Cannot list the deployments that a configuration may be about", "error", err)
	}
	for i := range deployments {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&deployments[i])})
	}
	return out
}

// listDeployments returns the metadata of the deployments of a namespace, or of all namespaces where it is empty.
func (r *Reconciler) listDeployments(ctx context.Context, namespace string) ([]metav1.PartialObjectMetadata, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
	err := listing.Cached(ctx, r.kube, l, client.InNamespace(namespace))
	return l.Items, errors.Wrap(err, "cannot list deployments")
}
