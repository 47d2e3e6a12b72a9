// Package bundlestate is the controller of BundleStates: it makes the packages of a Bundle, layer by layer, prunes the packages that left it, and keeps the
// record of the deployed packages.
//
// Facts are gathered first, past caches; a pure function decides; and then the packages are changed, each just as it was seen. The labels of the packages say
// which bundle made them: from these and the spec everything else can be made again. The record follows, and nothing waits for it.
package bundlestate

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

// Kind that the controller reconciles.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("BundleState") }

// Kinds returns the kinds that have to be served before the controller starts.
func Kinds() []schema.GroupVersionKind { return append(bundle.PackageKinds(), Kind()) }

// Setup adds the controller of BundleStates to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	clientset, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return errors.Wrap(err, "cannot make client for records")
	}
	recorder := setup.NewRecorder(mgr, name)
	c := &connector{kube: mgr.GetClient(), live: mgr.GetAPIReader(), clientset: clientset, recorder: recorder, memory: newNoteMemory(), now: time.Now}
	retaining := &composite.Connector[*v1alpha1.BundleState]{TypedExternalConnector: c, Kind: Kind().GroupKind(), Live: mgr.GetAPIReader(), Recorder: recorder}
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), packageIndex()); err != nil {
		return err
	}
	events := &setup.EventSource{}
	r := &setup.Forgetful{
		Reconciler: managed.NewReconciler(mgr, resource.ManagedKind(Kind()), setup.Options(mgr, o, name, retaining, c.requeueInterval)...),
		Kube:       mgr.GetClient(), New: func() client.Object { return &v1alpha1.BundleState{} }, Forget: c.memory.ForgetNote,
	}
	_, err = setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Reconciler: r, Events: events,
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
		Watch: func(b *builder.Builder) *builder.Builder { return addBundleWatches(mgr, b) },
	})
	return err
}

// addBundleWatches lets a bundle be looked at when it changes, or one of its packages, or its record, or another bundle that has a package of it. Of packages and
// Secrets the cache holds the metadata only.
func addBundleWatches(mgr ctrl.Manager, b *builder.Builder) *builder.Builder {
	w := waker{kube: mgr.GetClient()}
	b = b.For(&v1alpha1.BundleState{}, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&v1alpha1.BundleState{}, handler.EnqueueRequestsFromMapFunc(w.requestsForNeighbour), builder.WithPredicates(resource.DesiredStateChanged())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForRecord), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
	for _, kind := range bundle.PackageKinds() {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(kind)
		b = b.Watches(o, handler.EnqueueRequestsFromMapFunc(w.requestsForPackage), builder.OnlyMetadata)
	}
	return b
}

// requeueInterval is until something is due, and at most the interval for changes that no event reports.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	return setup.Interval(limit, c.memory.NoteOf(mg).next, c.now())
}

// newQuickReconciler returns a reconciler that observes BundleStates after an event, and passes a BundleState to the full reconciler if it has
// something to change or to write.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.BundleState]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.BundleState { return &v1alpha1.BundleState{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(bs *v1alpha1.BundleState) time.Time { return c.memory.NoteOf(bs).reconciledAt },
		IsUnchanged:  c.isUnchanged, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a BundleState, and reports whether nothing is to be changed or written. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, bs *v1alpha1.BundleState) bool {
	previous := bs.Status.DeepCopy()
	o, err := (&external{connector: c, note: c.memory.NoteOf(bs), quick: true}).Observe(ctx, bs)
	return err == nil && o.ResourceUpToDate && equality.Semantic.DeepEqual(*previous, bs.Status)
}
