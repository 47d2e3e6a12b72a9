package gitdelivery

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/usage"
)

// A waker finds the GitDeliveries that a change of something else concerns. What it cannot find is looked at anyway, an interval
// later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	ds, err := usage.OfSite(ctx, w.kube, o.GetName())
	if err != nil {
		w.log.Info("Cannot wake GitDeliveries", "site", o.GetName(), "error", err)
	}
	return reconcileRequests(ds)
}

func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	kind := policy.KindProviderConfig
	if _, ok := o.(*configv1alpha1.ClusterProviderConfig); ok {
		kind = policy.KindClusterProviderConfig
	}
	return w.deliveriesWithConfig(ctx, kind, client.ObjectKeyFromObject(o))
}

func (w waker) deliveriesWithConfig(ctx context.Context, kind string, key client.ObjectKey) []reconcile.Request {
	ds, err := usage.OfConfig(ctx, w.kube, kind, key)
	if err != nil {
		w.log.Info("Cannot wake GitDeliveries", "config", key, "error", err)
	}
	return reconcileRequests(ds)
}

func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	return append(w.requestsForNamespacedConfigs(ctx, o), w.requestsForClusterConfigs(ctx, o)...)
}

func (w waker) requestsForNamespacedConfigs(ctx context.Context, secret client.Object) []reconcile.Request {
	l := &configv1alpha1.ProviderConfigList{}
	if err := w.kube.List(ctx, l, client.InNamespace(secret.GetNamespace())); err != nil {
		w.log.Info("Cannot list ProviderConfigs", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		c := config{kind: policy.KindProviderConfig, namespace: l.Items[i].GetNamespace(), spec: &l.Items[i].Spec}
		if usesSecret(c, secret) {
			out = append(out, w.deliveriesWithConfig(ctx, c.kind, client.ObjectKeyFromObject(&l.Items[i]))...)
		}
	}
	return out
}

func (w waker) requestsForClusterConfigs(ctx context.Context, secret client.Object) []reconcile.Request {
	l := &configv1alpha1.ClusterProviderConfigList{}
	if err := w.kube.List(ctx, l); err != nil {
		w.log.Info("Cannot list ClusterProviderConfigs", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		c := config{kind: policy.KindClusterProviderConfig, spec: &l.Items[i].Spec}
		if usesSecret(c, secret) {
			out = append(out, w.deliveriesWithConfig(ctx, c.kind, client.ObjectKeyFromObject(&l.Items[i]))...)
		}
	}
	return out
}

func usesSecret(c config, secret client.Object) bool {
	return slices.Contains(credentials.Secrets(c.credentialsConfig(address.Guard{})), client.ObjectKeyFromObject(secret))
}

func reconcileRequests(ds []v1alpha1.GitDelivery) []reconcile.Request {
	out := []reconcile.Request{}
	for i := range ds {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&ds[i])})
	}
	return out
}

// statusOrFinalizerLost lets through a status that lost its memory, which would stay lost until the next interval, and an object
// that lost a finalizer, which may have been the last one that its deletion waited for.
func statusOrFinalizerLost() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		after, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		lost := before.Status.AtProvider.Ledger != nil && after.Status.AtProvider.Ledger == nil
		return lost || len(after.GetFinalizers()) < len(before.GetFinalizers())
	}}
}
