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

func (w waker) site(ctx context.Context, o client.Object) []reconcile.Request {
	ds, err := usage.OfSite(ctx, w.kube, o.GetName())
	if err != nil {
		w.log.Info("Cannot wake GitDeliveries", "site", o.GetName(), "error", err)
	}
	return requests(ds)
}

func (w waker) config(ctx context.Context, o client.Object) []reconcile.Request {
	kind := policy.KindProviderConfig
	if _, ok := o.(*configv1alpha1.ClusterProviderConfig); ok {
		kind = policy.KindClusterProviderConfig
	}
	return w.users(ctx, kind, client.ObjectKeyFromObject(o))
}

func (w waker) users(ctx context.Context, kind string, key client.ObjectKey) []reconcile.Request {
	ds, err := usage.OfConfig(ctx, w.kube, kind, key)
	if err != nil {
		w.log.Info("Cannot wake GitDeliveries", "config", key, "error", err)
	}
	return requests(ds)
}

func (w waker) secret(ctx context.Context, o client.Object) []reconcile.Request {
	return append(w.ofNamespace(ctx, o), w.ofCluster(ctx, o)...)
}

func (w waker) ofNamespace(ctx context.Context, secret client.Object) []reconcile.Request {
	l := &configv1alpha1.ProviderConfigList{}
	if err := w.kube.List(ctx, l, client.InNamespace(secret.GetNamespace())); err != nil {
		w.log.Info("Cannot list ProviderConfigs", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		c := config{kind: policy.KindProviderConfig, namespace: l.Items[i].GetNamespace(), spec: &l.Items[i].Spec}
		if names(c, secret) {
			out = append(out, w.users(ctx, c.kind, client.ObjectKeyFromObject(&l.Items[i]))...)
		}
	}
	return out
}

func (w waker) ofCluster(ctx context.Context, secret client.Object) []reconcile.Request {
	l := &configv1alpha1.ClusterProviderConfigList{}
	if err := w.kube.List(ctx, l); err != nil {
		w.log.Info("Cannot list ClusterProviderConfigs", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		c := config{kind: policy.KindClusterProviderConfig, spec: &l.Items[i].Spec}
		if names(c, secret) {
			out = append(out, w.users(ctx, c.kind, client.ObjectKeyFromObject(&l.Items[i]))...)
		}
	}
	return out
}

func names(c config, secret client.Object) bool {
	return slices.Contains(credentials.Secrets(c.credentials(address.Guard{})), client.ObjectKeyFromObject(secret))
}

func requests(ds []v1alpha1.GitDelivery) []reconcile.Request {
	out := []reconcile.Request{}
	for i := range ds {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&ds[i])})
	}
	return out
}

// forgot lets through a status that lost its memory, which nobody else would give back before the next interval, and an object
// that lost a finalizer, which may have been the last one that its deletion waited for.
func forgot() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		after, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		lost := before.Status.AtProvider.Order != nil && after.Status.AtProvider.Order == nil ||
			before.Status.AtProvider.Ledger != nil && after.Status.AtProvider.Ledger == nil
		return lost || len(after.GetFinalizers()) < len(before.GetFinalizers())
	}}
}
