package secret

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/usage"
)

// users finds who needs a Secret: the GitDeliveries that name a configuration that names it.
type users struct {
	kube client.Reader
}

// of returns the GitDeliveries that hold a configuration which names a Secret: of the first such configuration that is held. It returns an
// error if that cannot be known.
func (u users) of(ctx context.Context, secret client.ObjectKey) ([]deliveryv1alpha1.GitDelivery, error) {
	configs, err := u.configs(ctx, secret.Namespace)
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		if !slices.Contains(secretsOf(c), secret) {
			continue
		}
		ds, err := usage.Holders(ctx, u.kube, c)
		if err != nil || len(ds) > 0 {
			return ds, err
		}
	}
	return nil, nil
}

// configs that may name Secrets of a namespace.
func (u users) configs(ctx context.Context, namespace string) ([]client.Object, error) {
	own := &configv1alpha1.ProviderConfigList{}
	if err := u.kube.List(ctx, own, client.InNamespace(namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list ProviderConfigs")
	}
	shared := &configv1alpha1.ClusterProviderConfigList{}
	if err := u.kube.List(ctx, shared); err != nil {
		return nil, errors.Wrap(err, "cannot list ClusterProviderConfigs")
	}
	out := []client.Object{}
	for i := range own.Items {
		out = append(out, &own.Items[i])
	}
	for i := range shared.Items {
		out = append(out, &shared.Items[i])
	}
	return out, nil
}

// ofSecret returns a Secret that is not as it should be, which few of a cluster's Secrets are.
func (u users) ofSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	key := client.ObjectKeyFromObject(secret)
	users, err := u.of(ctx, key)
	used := len(users) > 0
	asItShould := used == meta.FinalizerExists(secret, configv1alpha1.Finalizer)
	waits := used && meta.WasDeleted(secret)
	if err == nil && asItShould && !waits {
		return nil
	}
	return requests([]client.ObjectKey{key}) // After an error too: there it is tried again.
}

// ofDelivery returns the Secrets that a GitDelivery needs, or did.
func (u users) ofDelivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*deliveryv1alpha1.GitDelivery)
	if !ok || d.GetProviderConfigReference() == nil {
		return nil
	}
	key, c := client.ObjectKey{Name: d.GetProviderConfigReference().Name}, client.Object(&configv1alpha1.ClusterProviderConfig{})
	if d.GetProviderConfigReference().Kind == policy.KindProviderConfig {
		key.Namespace, c = d.GetNamespace(), &configv1alpha1.ProviderConfig{}
	}
	if err := u.kube.Get(ctx, key, c); err != nil {
		return nil // The cache answers. What is not in it frees, or needs, its Secrets when it goes, or comes.
	}
	return ofConfig(ctx, c)
}

// ofConfig returns the Secrets that a configuration names.
func ofConfig(_ context.Context, c client.Object) []reconcile.Request { return requests(secretsOf(c)) }

func secretsOf(o client.Object) []client.ObjectKey {
	switch c := o.(type) {
	case *configv1alpha1.ProviderConfig:
		return credentials.Secrets(credentials.Config{Kind: kindOf(c), Namespace: c.GetNamespace(), Remote: c.Spec.Git})
	case *configv1alpha1.ClusterProviderConfig:
		return credentials.Secrets(credentials.Config{Kind: kindOf(c), Remote: c.Spec.Git})
	}
	return nil
}

func kindOf(o client.Object) string {
	if _, ok := o.(*configv1alpha1.ClusterProviderConfig); ok {
		return policy.KindClusterProviderConfig
	}
	return policy.KindProviderConfig
}

func requests(secrets []client.ObjectKey) []reconcile.Request {
	out := []reconcile.Request{}
	for _, s := range secrets {
		out = append(out, reconcile.Request{NamespacedName: s})
	}
	return out
}

// renamed lets through a GitDelivery that comes, goes, or names another configuration.
func renamed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*deliveryv1alpha1.GitDelivery)
		after, ok2 := e.ObjectNew.(*deliveryv1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		x, y := before.GetProviderConfigReference(), after.GetProviderConfigReference()
		return x == nil || y == nil || *x != *y
	}}
}
