// Package imagebuild is the controller of ImageBuilds: it finds the commits of sources, and has kpack build images of them.
//
// Facts are gathered first: from the configuration, from the repository through one look that all of its users share, and from kpack's Image
// and Build; a pure function decides the requests to kpack and the status.
package imagebuild

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	rtcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/sources"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// Options of the controller.
type Options struct {
	// Guard of the addresses that sources lead to. The zero Guard refuses the most.
	Guard address.Guard

	// Budget of the answers of sources, which each namespace pays for. Required.
	Budget *budget.Budget

	// Metrics of builds. Required.
	Metrics *telemetry.Metrics
}

// Kind that has to be served before the controller starts. It is optional: without it deployments still deliver.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("ImageBuild") }

// cachedLabel selects the objects of kpack that the cache holds.
func cachedLabel() labels.Selector {
	r, err := labels.NewRequirement(v1alpha1.LabelImageBuild, selection.Exists, nil)
	if err != nil {
		return labels.Nothing() // A label's name does not become wrong.
	}
	return labels.NewSelector().Add(*r)
}

// Setup adds the controller of ImageBuilds to a manager. kpack is watched once it is installed. It returns an error if the controller cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	kube, log := mgr.GetClient(), o.Logger.WithValues("controller", name)
	bell := &setup.EventSource{}
	list := func(ctx context.Context, namespace string, server transport.Server, revisions []string) (refs.Set, error) {
		return refs.List(ctx, s.Budget.ForNamespace(namespace), server, revisions)
	}
	c := &connector{
		kube: kube, live: mgr.GetAPIReader(), guard: s.Guard, memory: newNoteMemory(), hooks: newHookNotes(), counter: s.Metrics, wake: bell.Wake, now: time.Now,
		sources:  sources.NewPool(list, bell.Wake, func(err error) { s.Metrics.SourceLook(string(failure.ClassOf(err))) }, time.Now),
		recorder: setup.NewRecorder(mgr, name),
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(Kind()), append(setup.Options(mgr, o, name, c, c.requeueInterval), setup.WithoutFinalizer())...)
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), imageBuildIndex()); err != nil {
		return err
	}
	w := waker{kube: kube, log: log}
	buildController, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Events: bell,
		Reconciler: &setup.Forgetful{Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.ImageBuild{} }, Forget: c.forgetBuild},
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&v1alpha1.ImageBuild{}, builder.WithPredicates(resource.DesiredStateChanged())).
				Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
				// Only the metadata of Secrets, not their data, is kept in memory.
				WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
		},
	})
	if err != nil {
		return err
	}
	o.Gate.Register(func() { c.startKpackWatches(mgr, buildController, w) }, kpack.ImageKind(), kpack.BuildKind())
	return nil
}

// kpackInterval is how often it is tried to watch kpack: the API server lists a kind a moment after its definition is established.
const kpackInterval = time.Second

// startKpackWatches watches the kinds of kpack, which are served from now on, and wakes all ImageBuilds once they were read. Without the right to read them, kpack
// counts as missing. A cluster where kpack is just being installed may not answer: then it is tried again.
func (c *connector) startKpackWatches(mgr manager.Manager, buildController rtcontroller.Controller, w waker) {
	kinds := []schema.GroupVersionKind{kpack.ImageKind(), kpack.BuildKind()}
	kpackCache := awaitKindCache(mgr, w, cache.Options{DefaultLabelSelector: cachedLabel(), DefaultTransform: cache.TransformStripManagedFields()}, kinds...)
	if kpackCache == nil {
		return
	}
	awaitSuccess(w.log, func() (struct{}, error) {
		return struct{}{}, listing.AddIndexes(context.Background(), kpackCache, runningIndex())
	})
	watchKpackKinds(buildController, w, kpackCache, requestsForOwned, nil, kinds...)
	c.cache = kpackCache
	c.hasKpack.Store(true)
	for _, r := range w.requestsForAll(context.Background()) {
		c.wake(r.NamespacedName)
	}
	c.watchBuilders(mgr, buildController, w)
}

// awaitKindCache returns a cache with the objects of kinds once it has read them, or nil if the manager ends.
func awaitKindCache(mgr manager.Manager, w waker, o cache.Options, kinds ...schema.GroupVersionKind) cache.Cache {
	kpackCache := awaitSuccess(w.log, func() (cache.Cache, error) { return newKpackCache(mgr, o) })
	for _, kind := range kinds {
		awaitSuccess(w.log, func() (cache.Informer, error) {
			return kpackCache.GetInformer(context.Background(), kpack.NewObject(kind), cache.BlockUntilSynced(false))
		})
	}
	// The controller ends where a source that it starts with does not come in sync.
	if !kpackCache.WaitForCacheSync(context.Background()) {
		return nil
	}
	return kpackCache
}

// watchKpackKinds watches kinds, and reconciles the ImageBuilds that a changed object concerns.
func watchKpackKinds(buildController rtcontroller.Controller, w waker, kpackCache cache.Cache, concerns handler.TypedMapFunc[*unstructured.Unstructured, ctrl.Request],
	predicates []predicate.TypedPredicate[*unstructured.Unstructured], kinds ...schema.GroupVersionKind,
) {
	for _, kind := range kinds {
		awaitSuccess(w.log, func() (struct{}, error) {
			return struct{}{}, buildController.Watch(source.Kind(kpackCache, kpack.NewObject(kind), handler.TypedEnqueueRequestsFromMapFunc(concerns), predicates...))
		})
	}
}

// newKpackCache starts a separate cache: the manager's cache is made before kpack may be there, and has to know each kind that it holds a
// part of.
func newKpackCache(mgr manager.Manager, o cache.Options) (cache.Cache, error) {
	o.Scheme, o.HTTPClient = mgr.GetScheme(), mgr.GetHTTPClient()
	kpackCache, err := cache.New(mgr.GetConfig(), o)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make cache")
	}
	return kpackCache, errors.Wrap(mgr.Add(kpackCache), "cannot start cache")
}

// awaitSuccess repeats a function until it succeeds, and returns the result.
func awaitSuccess[T any](log logging.Logger, try func() (T, error)) T {
	var out T
	_ = wait.PollUntilContextCancel(context.Background(), kpackInterval, true, func(context.Context) (bool, error) {
		var err error
		if out, err = try(); err != nil {
			log.Info("Cannot watch kpack yet", "error", err)
		}
		return err == nil, nil
	})
	return out
}

// requestsForOwned returns the ImageBuild that an Image or a Build of kpack belongs to.
func requestsForOwned(_ context.Context, u *unstructured.Unstructured) []ctrl.Request {
	if name := u.GetLabels()[v1alpha1.LabelImageBuild]; name != "" {
		return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(), Name: name}}}
	}
	return nil
}

// requeueInterval is until something is due, be it a look at the repository or a Build that is tried again.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	return setup.Interval(limit, c.memory.NoteOf(mg).next, c.now())
}

// A waker finds the ImageBuilds that a change of something else concerns. ImageBuilds that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

// requestsFor returns requests for the ImageBuilds with a key.
func (w waker) requestsFor(ctx context.Context, key string, in ...client.ListOption) []ctrl.Request {
	out, err := imageBuildIndex().Requests(ctx, w.kube, &v1alpha1.ImageBuildList{}, []string{key}, in...)
	if err != nil {
		w.log.Info("Cannot list ImageBuilds", "error", err)
	}
	return out
}

func (w waker) requestsForAll(ctx context.Context) []ctrl.Request {
	return w.requestsFor(ctx, anyBuild)
}

func (w waker) requestsForConfig(ctx context.Context, o client.Object) []ctrl.Request {
	return w.requestsFor(ctx, configIndexKey(o.GetName()))
}

func (w waker) requestsForSecret(ctx context.Context, o client.Object) []ctrl.Request {
	return w.requestsFor(ctx, secretIndexKey(o.GetName()), client.InNamespace(o.GetNamespace()))
}

const (
	// anyBuild is the key of all ImageBuilds.
	anyBuild = "any"

	// failedBuild is the key of the ImageBuilds whose Build failed.
	failedBuild = "failed"
)

func configIndexKey(name string) string { return "config/" + name }

func secretIndexKey(name string) string { return "secret/" + name }

// imageBuildIndex finds ImageBuilds by their configurations and by the Secrets of their sources, and the ImageBuilds whose Build failed.
func imageBuildIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.ImageBuild{}, "intentplane.imagebuild.object", func(b *v1alpha1.ImageBuild) []string {
		out := []string{anyBuild}
		if ref := b.GetProviderConfigReference(); ref != nil {
			out = append(out, configIndexKey(ref.Name))
		}
		if git := b.Spec.ForProvider.Source.Git; git != nil && git.SecretRef != nil {
			out = append(out, secretIndexKey(string(git.SecretRef.Name)))
		}
		if b.Status.AtProvider.Failed != nil {
			out = append(out, failedBuild)
		}
		return out
	})
}
