package secret

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/usage"
)

// users finds the GitDeliveries that need a Secret: they name a configuration that names the Secret.
type users struct {
	kube client.Reader
}

// deliveriesUsing returns the GitDeliveries that need the first configuration in use that names a Secret. It returns an error if they
// cannot be listed.
func (u users) deliveriesUsing(ctx context.Context, secret client.ObjectKey) ([]deliveryv1alpha1.GitDelivery, error) {
	configs, err := usage.ConfigsWithSecret(ctx, u.kube, secret)
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		ds, err := usage.Holders(ctx, u.kube, c)
		if err != nil || len(ds) > 0 {
			return ds, err
		}
	}
	return nil, nil
}

// requestsForSecret returns a request if the finalizer of a Secret has to change, or its deletion waits. For most Secrets of a cluster it returns no request.
func (u users) requestsForSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	key := client.ObjectKeyFromObject(secret)
	users, err := u.deliveriesUsing(ctx, key)
	used := len(users) > 0
	asItShould := used == meta.FinalizerExists(secret, configv1alpha1.Finalizer)
	waits := used && meta.WasDeleted(secret)
	if err == nil && asItShould && !waits {
		return nil
	}
	return newRequests([]client.ObjectKey{key}) // After an error the reconcile lists the users again, and is retried.
}

// requestsForDelivery returns requests for the Secrets that a GitDelivery needs or needed.
func (u users) requestsForDelivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*deliveryv1alpha1.GitDelivery)
	if !ok || d.GetProviderConfigReference() == nil {
		return nil
	}
	key, c := client.ObjectKey{Name: d.GetProviderConfigReference().Name}, client.Object(&configv1alpha1.ClusterProviderConfig{})
	if d.GetProviderConfigReference().Kind == policy.KindProviderConfig {
		key.Namespace, c = d.GetNamespace(), &configv1alpha1.ProviderConfig{}
	}
	if err := u.kube.Get(ctx, key, c); err != nil {
		return nil // The read is from the cache. A configuration that is not in it requeues its Secrets when it is added or deleted.
	}
	return requestsForConfig(ctx, c)
}

// requestsForConfig returns requests for the Secrets that a configuration names.
func requestsForConfig(_ context.Context, c client.Object) []reconcile.Request {
	return newRequests(usage.SecretsOf(c))
}

func newRequests(secrets []client.ObjectKey) []reconcile.Request {
	out := []reconcile.Request{}
	for _, s := range secrets {
		out = append(out, reconcile.Request{NamespacedName: s})
	}
	return out
}

// configChanged accepts the creation and deletion of a GitDelivery, and an update that names another configuration.
func configChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*deliveryv1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*deliveryv1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		x, y := previous.GetProviderConfigReference(), current.GetProviderConfigReference()
		return x == nil || y == nil || *x != *y
	}}
}
