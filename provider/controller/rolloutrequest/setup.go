// Package rolloutrequest brings RolloutRequests to the function, and writes down what became of them.
//
// The function decides. It sees requests by their labels, which a request has while it is open, and answers in the status of the
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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	name = "rolloutrequest"

	// deploymentField is the index of requests by their deployment.
	deploymentField = "intentplane.deployment"
)

// Kind is the kind that the controller cannot do without.
func Kind() schema.GroupVersionKind { return rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest") }

// Setup adds a controller of RolloutRequests to the manager. Each shape of deployments is watched once it is served, which may be
// never. It returns an error if the controller cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	if err := index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	log := o.Logger.WithValues("controller", name)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		For(&rolloutv1alpha1.RolloutRequest{}).
		Build(errors.WithSilentRequeueOnConflict(&Reconciler{kube: mgr.GetClient(), now: time.Now, log: log}))
	if err != nil {
		return errors.Wrapf(err, "cannot add controller %s", name)
	}
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		gvk := kindOf(group)
		o.Gate.Register(func() {
			if err := c.Watch(deployments(mgr, gvk, log)); err != nil {
				// There is nobody to return it to. Requests would never be answered.
				panic(errors.Wrapf(err, "cannot watch %s", gvk.GroupKind()))
			}
		}, gvk)
	}
	return nil
}

// kindOf the deployments of a group.
func kindOf(group string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
}

// deployments wake their requests. Only who they are is kept in memory: their status is read when a request is open.
func deployments(mgr ctrl.Manager, gvk schema.GroupVersionKind, log logging.Logger) source.Source {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	w := waker{kube: mgr.GetClient(), group: gvk.Group, log: log}
	return source.Kind[client.Object](mgr.GetCache(), o, handler.EnqueueRequestsFromMapFunc(w.open))
}

// A waker finds the requests that a deployment concerns.
type waker struct {
	kube  client.Reader
	group string
	log   logging.Logger
}

func (w waker) open(ctx context.Context, o client.Object) []reconcile.Request {
	all, err := requestsOf(ctx, w.kube, o.GetNamespace(), w.group, o.GetName())
	if err != nil {
		w.log.Info("Cannot wake RolloutRequests", "deployment", o.GetName(), "error", err)
	}
	out := []reconcile.Request{}
	for _, r := range first(all) {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(r)})
	}
	return out
}

// index makes requests findable by their deployment. It returns an error if the cache already has the index.
func index(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &rolloutv1alpha1.RolloutRequest{}, deploymentField, func(o client.Object) []string {
		r, ok := o.(*rolloutv1alpha1.RolloutRequest)
		if !ok {
			return nil
		}
		return []string{r.Spec.DeploymentRef.APIGroup + "/" + r.Spec.DeploymentRef.Name}
	}), "cannot index RolloutRequests by deployment")
}

// requestsOf a deployment, as they are in the cache: what they hold is shared.
func requestsOf(ctx context.Context, kube client.Reader, namespace, group, deployment string) ([]rolloutv1alpha1.RolloutRequest, error) {
	l := &rolloutv1alpha1.RolloutRequestList{}
	err := kube.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{deploymentField: group + "/" + deployment}, client.UnsafeDisableDeepCopy)
	return l.Items, errors.Wrapf(err, "cannot list RolloutRequests of %s", deployment)
}
