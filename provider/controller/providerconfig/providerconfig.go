// Package providerconfig keeps a finalizer on configurations while a managed resource names them.
package providerconfig

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/usage"
)

// Setup adds a controller for each kind of configuration to the manager. It returns an error if one cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	for kind, fn := range configKinds() {
		name := strings.ToLower(kind)
		r := &Reconciler{kube: mgr.GetClient(), kind: kind, newConfig: fn, recorder: setup.NewRecorder(mgr, name)}
		_, err := setup.AddController(mgr, o, setup.Controller{
			Name: name, Reconciler: r, IsCheap: true,
			Watch: func(b *builder.Builder) *builder.Builder {
				return b.For(fn()).
					Watches(&deliveryv1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(requestsForConfig(kind)), builder.WithPredicates(releasesConfig()))
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func configKinds() map[string]func() client.Object {
	return map[string]func() client.Object{
		policy.KindProviderConfig:        func() client.Object { return &configv1alpha1.ProviderConfig{} },
		policy.KindClusterProviderConfig: func() client.Object { return &configv1alpha1.ClusterProviderConfig{} },
	}
}

// A Reconciler keeps a finalizer on configurations of one kind. Usages that the runtime records cannot do that: a foreground
// deletion removes them before the managed resource that they belong to.
type Reconciler struct {
	kube      client.Client
	kind      string
	newConfig func() client.Object
	recorder  xpevent.Recorder
}

// Reconcile one configuration.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := r.newConfig()
	if err := r.kube.Get(ctx, req.NamespacedName, c); err != nil {
		return reconcile.Result{}, errors.Wrapf(client.IgnoreNotFound(err), "cannot get %s", r.kind)
	}
	if !meta.WasDeleted(c) {
		if err := r.addFinalizer(ctx, c); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, r.updateSignedCondition(ctx, c)
	}
	users, err := usage.Holders(ctx, r.kube, c)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(users) > 0 {
		return reconcile.Result{}, r.reportUsers(ctx, c, users) // It is requeued when a user is deleted.
	}
	return reconcile.Result{}, r.removeFinalizer(ctx, c)
}

func (r *Reconciler) addFinalizer(ctx context.Context, c client.Object) error {
	if meta.FinalizerExists(c, configv1alpha1.Finalizer) {
		return nil
	}
	meta.AddFinalizer(c, configv1alpha1.Finalizer)
	return errors.Wrapf(r.kube.Update(ctx, c), "cannot add finalizer to %s", r.kind)
}

func (r *Reconciler) removeFinalizer(ctx context.Context, c client.Object) error {
	if !meta.FinalizerExists(c, configv1alpha1.Finalizer) {
		return nil
	}
	meta.RemoveFinalizer(c, configv1alpha1.Finalizer)
	return errors.Wrapf(client.IgnoreNotFound(r.kube.Update(ctx, c)), "cannot remove finalizer from %s", r.kind)
}

// requestsForConfig returns a mapper from a managed resource to the configuration of a kind that it names.
func requestsForConfig(kind string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		d, ok := o.(*deliveryv1alpha1.GitDelivery)
		if !ok || d.GetProviderConfigReference() == nil || d.GetProviderConfigReference().Kind != kind {
			return nil
		}
		key := client.ObjectKey{Name: d.GetProviderConfigReference().Name}
		if kind == policy.KindProviderConfig {
			key.Namespace = d.GetNamespace()
		}
		return []reconcile.Request{{NamespacedName: key}}
	}
}

// releasesConfig accepts events that may release a configuration: a managed resource was deleted, or names another configuration.
func releasesConfig() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			previous, ok := e.ObjectOld.(*deliveryv1alpha1.GitDelivery)
			current, ok2 := e.ObjectNew.(*deliveryv1alpha1.GitDelivery)
			return ok && ok2 && !namesSameConfig(previous, current)
		},
	}
}

func namesSameConfig(a, b *deliveryv1alpha1.GitDelivery) bool {
	x, y := a.GetProviderConfigReference(), b.GetProviderConfigReference()
	return x != nil && y != nil && *x == *y
}
