package catalogview

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

const name = "catalogview"

// queue of namespaces.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Setup adds the controller to a manager. It returns an error if the controller cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	r := &Reconciler{
		kube: mgr.GetClient(), published: mgr.GetCache(), live: mgr.GetAPIReader(), blueprints: newBlueprintViews(mgr.GetClient(), mgr.GetAPIReader()),
		pace: rate.NewLimiter(writesPerSecond, writesPerSecond), now: time.Now, log: o.Logger.WithValues("controller", name), written: map[string]time.Time{},
	}
	c, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: r, IsCheap: true, Watch: r.watchCatalog,
		Workers: 1, // The pace of writes holds one worker.
	})
	if err != nil {
		return err
	}
	for _, kind := range kindsWithSites() {
		o.Gate.Register(func() {
			if err := r.watchObjectKind(mgr, c, kind); err != nil {
				// The callback cannot return an error, and namespaces without a ConfigMap would look as if they may use nothing.
				panic(errors.Wrap(err, "cannot set up the published catalog"))
			}
		}, kind)
	}
	return nil
}

// watchCatalog watches Sites, Blueprints, and the published ConfigMaps.
func (r *Reconciler) watchCatalog(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&catalogv1alpha1.Site{}, r.siteHandler(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		Watches(&catalogv1alpha1.Blueprint{}, handler.Funcs{
			CreateFunc: func(ctx context.Context, _ event.CreateEvent, q queue) { r.wakePublished(ctx, q) },
			UpdateFunc: func(ctx context.Context, _ event.UpdateEvent, q queue) { r.wakePublished(ctx, q) },
			DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, q queue) { r.wakePublished(ctx, q) },
		}, builder.OnlyMetadata, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		Watches(&corev1.ConfigMap{}, namespaceHandler())
}

// kindsWithSites returns the kinds whose objects use Sites.
func kindsWithSites() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		out = append(out,
			schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind},
			schema.GroupVersionKind{Group: group, Version: applicationv1alpha1.Version, Kind: applicationv1alpha1.Kind},
			schema.GroupVersionKind{Group: group, Version: bundlev1alpha1.Version, Kind: bundlev1alpha1.Kind},
		)
	}
	return out
}

// watchObjectKind enqueues the namespace of each new object of a kind. The cache holds metadata, which other controllers read, too.
func (r *Reconciler) watchObjectKind(mgr ctrl.Manager, c runtimecontroller.Controller, kind schema.GroupVersionKind) error {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	r.mu.Lock()
	r.kinds = append(r.kinds, kind)
	r.mu.Unlock()
	wake := handler.TypedFuncs[client.Object, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { wakeNamespace(q, e.Object.GetNamespace()) },
	}
	return errors.Wrapf(c.Watch(source.Kind[client.Object](mgr.GetCache(), o, wake)), "cannot watch objects of kind %s", kind.Kind)
}

// namespaceHandler enqueues the namespace of an object.
func namespaceHandler() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{namespaceRequest(o.GetNamespace())}
	})
}

// siteHandler enqueues the namespaces that may use a Site, or might before.
func (r *Reconciler) siteHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { r.wakeAllowed(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			r.wakeAllowed(ctx, q, e.ObjectOld, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { r.wakeAllowed(ctx, q, e.Object) },
	}
}

// wakeAllowed enqueues the allowed namespaces of some Sites. For * these are all namespaces with a ConfigMap.
func (r *Reconciler) wakeAllowed(ctx context.Context, q queue, sites ...client.Object) {
	allowed := map[string]bool{}
	for _, o := range sites {
		if s, ok := o.(*catalogv1alpha1.Site); ok {
			for _, n := range s.Spec.AllowedNamespaces {
				allowed[n] = true
			}
		}
	}
	if allowed[everyNamespace] {
		delete(allowed, everyNamespace)
		r.wakePublished(ctx, q)
	}
	for n := range allowed {
		wakeNamespace(q, n)
	}
}

// everyNamespace in spec.allowedNamespaces of a Site stands for all.
const everyNamespace = "*"

// wakePublished enqueues all namespaces with a ConfigMap.
func (r *Reconciler) wakePublished(ctx context.Context, q queue) {
	l := &corev1.ConfigMapList{}
	if err := listing.Cached(ctx, r.published, l); err != nil {
		r.log.Info("Cannot list the published catalog", "error", err)
		return
	}
	for i := range l.Items {
		wakeNamespace(q, l.Items[i].Namespace)
	}
}

// wakeNamespace enqueues a namespace after a delay that collects simultaneous changes.
func wakeNamespace(q queue, namespace string) {
	q.AddAfter(namespaceRequest(namespace), settle)
}

func namespaceRequest(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}}
}
