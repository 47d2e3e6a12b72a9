// Package sitehealth is the controller of SiteHealths: it observes whether the pods of one image serve at the Sites of a deployment.
//
// Facts are gathered first, from the API server and from the clusters of the Sites; a pure function decides; and its decision is written into
// the status: at once where a Site begins or ends to serve, and at most once per minute where that changes all the time.
package sitehealth

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of Sites.
	Limits clusters.Limits
}

// Kind that has to be served before the controller starts. It is optional: without it deployments still deliver.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("SiteHealth") }

// Setup adds the controller of SiteHealths to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	log := o.Logger.WithValues("controller", name)
	kube := mgr.GetClient()
	bell := &setup.EventSource{}
	pool := clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), s.Limits.Accounts, bell.Wake)
	c := &connector{kube: kube, pool: pool, memory: newNoteMemory(), now: time.Now}
	r := managed.NewReconciler(mgr, resource.ManagedKind(Kind()), append(setup.Options(mgr, o, name, c, c.requeueInterval), setup.WithoutFinalizer())...)
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), healthIndex()); err != nil {
		return err
	}
	w := waker{kube: kube, log: log}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Events: bell,
		Reconciler: &setup.Forgetful{Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.SiteHealth{} }, Forget: c.forgetHealth},
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&v1alpha1.SiteHealth{}, builder.WithPredicates(resource.DesiredStateChanged())).
				Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSite)).
				Watches(&v1alpha1.SiteSync{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSync)).
				// Only the metadata of Secrets, not their data, is kept in memory.
				WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
		},
	})
	return err
}

// requeueInterval is the time until the next observation of pods or write of the status, and at most the interval for changes without events.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	return setup.Interval(limit, c.memory.NoteOf(mg).next, c.now())
}

// forgetHealth drops all that belongs to a SiteHealth that was deleted.
func (c *connector) forgetHealth(key types.NamespacedName) {
	c.pool.Forget(key)
	c.memory.ForgetNote(key)
}
