// Package rolloutrequest passes RolloutRequests to the function, and writes the answers into their status.
//
// The function decides. It selects requests by their labels, which a request has while it is open, and answers in the status of the
// deployment.
package rolloutrequest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

const name = "rolloutrequest"

// Kind returns the kind that has to be served before the controller starts.
func Kind() schema.GroupVersionKind { return rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest") }

// Setup adds a controller of RolloutRequests to the manager. Deployments of each API group are watched once the group is served, which may
// be never. It returns an error if the controller cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), deploymentIndex()); err != nil {
		return err
	}
	log, turns := o.Logger.WithValues("controller", name), newTurnQueue()
	c, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: errors.WithSilentRequeueOnConflict(&Reconciler{kube: mgr.GetClient(), turns: turns, now: time.Now, log: log}), IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder { return b.For(&rolloutv1alpha1.RolloutRequest{}) },
	})
	if err != nil {
		return err
	}
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		gvk := deploymentKind(group)
		o.Gate.Register(func() {
			if err := c.Watch(deploymentSource(mgr, gvk, turns, log)); err != nil {
				// The callback cannot return an error, and without the watch requests would not be answered.
				panic(errors.Wrapf(err, "cannot watch %s", gvk.GroupKind()))
			}
		}, gvk)
	}
	return nil
}

// deploymentKind returns the kind of the deployments of an API group.
func deploymentKind(group string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
}

// deploymentSource returns a source that requeues the requests of a deployment. The cache holds metadata only: the status is read when a
// request is open.
func deploymentSource(mgr ctrl.Manager, gvk schema.GroupVersionKind, turns *turnQueue, log logging.Logger) source.Source {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	w := requestMapper{kube: mgr.GetClient(), turns: turns, group: gvk.Group, log: log}
	return source.Kind[client.Object](mgr.GetCache(), o, handler.EnqueueRequestsFromMapFunc(w.requestsForDeployment))
}

// A requestMapper maps an event of a deployment to its open requests.
type requestMapper struct {
	kube  client.Reader
	turns *turnQueue
	group string
	log   logging.Logger
}

func (w requestMapper) requestsForDeployment(ctx context.Context, o client.Object) []reconcile.Request {
	key := deploymentKey{namespace: o.GetNamespace(), group: w.group, name: o.GetName()}
	open, err := w.turns.openRequests(key, newRequestLister(ctx, w.kube, key))
	if err != nil {
		w.log.Info("Cannot wake RolloutRequests", "deployment", o.GetName(), "error", err)
	}
	out := make([]reconcile.Request, 0, len(open))
	for _, request := range open {
		out = append(out, reconcile.Request{NamespacedName: request})
	}
	return out
}

// deploymentIndex finds requests that may take effect by their deployment: closed requests cost nothing.
func deploymentIndex() listing.Index {
	return listing.NewIndex(&rolloutv1alpha1.RolloutRequest{}, "intentplane.deployment", func(r *rolloutv1alpha1.RolloutRequest) []string {
		if !r.MayTakeEffect() {
			return nil
		}
		return []string{r.Spec.DeploymentRef.APIGroup + "/" + r.Spec.DeploymentRef.Name}
	})
}

// newRequestLister returns a function that lists the requests of a deployment that may take effect, from the cache. The objects are shared and must not be changed.
func newRequestLister(ctx context.Context, kube client.Reader, key deploymentKey) lister {
	return func() ([]rolloutv1alpha1.RolloutRequest, error) {
		l := &rolloutv1alpha1.RolloutRequestList{}
		err := deploymentIndex().List(ctx, kube, l, key.group+"/"+key.name, client.InNamespace(key.namespace))
		return l.Items, errors.Wrapf(err, "cannot list RolloutRequests of %s", key.name)
	}
}
