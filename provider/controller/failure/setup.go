package failure

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// Setup adds a controller for each API group of deployments to the manager, once the group is served, which may be never.
func Setup(mgr ctrl.Manager, o controller.Options) {
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		gvk := schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
		o.Gate.Register(func() {
			if err := addController(mgr, o, gvk); err != nil {
				// The callback cannot return an error, and without the controller no failure would be reported.
				panic(errors.Wrap(err, "cannot set up reports of failures"))
			}
		}, gvk, deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"))
	}
}

func addController(mgr ctrl.Manager, o controller.Options, gvk schema.GroupVersionKind) error {
	name := "failure/" + gvk.GroupKind().String()
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(gvk)
	r := &Reconciler{kube: mgr.GetClient(), live: mgr.GetAPIReader(), gvk: gvk, trees: newTreeCache(), log: o.Logger.WithValues("controller", name)}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: r, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(partial, builder.OnlyMetadata).Watches(&deliveryv1alpha1.GitDelivery{}, rejectionHandler(r.trees, gvk.Group))
		},
	})
	return err
}

// rejectionHandler returns a handler that keeps the trees of a revision when it is rejected, and requeues the deployment, whose status may
// have been written before.
func rejectionHandler(s *treeCache, group string) handler.EventHandler {
	wake := func(d *deliveryv1alpha1.GitDelivery, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		if key := revisionKeyOf(d); key.group == group && desiredRevisionOf(d).isRejected {
			q.Add(reconcile.Request{NamespacedName: key.key})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if d, ok := e.Object.(*deliveryv1alpha1.GitDelivery); ok {
				wake(d, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			previous, ok := e.ObjectOld.(*deliveryv1alpha1.GitDelivery)
			current, hasCurrent := e.ObjectNew.(*deliveryv1alpha1.GitDelivery)
			if !ok || !hasCurrent || previous.Spec.ForProvider.ClaimRef.APIGroup != group {
				return
			}
			s.putRejected(previous, current)
			if previousRevision := desiredRevisionOf(previous); !previousRevision.isRejected || previousRevision.number != desiredRevisionOf(current).number {
				wake(current, q)
			}
		},
	}
}
