package gate

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/listing"
)

// maxWoken is the maximum number of Gates that an event about one claim wakes. A deployment has a Gate for each of its 20 steps, and a tenant may write any
// number in its name, and the events.
const maxWoken = 64

// openGateIndex finds Gates without a verdict, which are all that a change of something else can concern.
func openGateIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.Gate{}, "intentplane.gate.open", openGateKeys)
}

// openGateKeys returns the keys of a Gate without a verdict: its claim, its SiteSync, or its claim again if it names no SiteSync, and the Sites and configurations
// of its checks.
func openGateKeys(g *v1alpha1.Gate) []string {
	if g.Status.AtProvider.Verdict != "" {
		return nil
	}
	spec := g.Spec.ForProvider
	out := []string{claimIndexKey(spec.ClaimRef), unnamedSyncKey(spec.ClaimRef)}
	if spec.SiteSyncRef != nil {
		out[1] = syncIndexKey(spec.SiteSyncRef.Name)
	}
	for _, c := range spec.Checks {
		out = append(out, siteIndexKey(c.Site))
		if ref := g.ConfigOf(c); ref != nil {
			out = append(out, configIndexKey(ref.Name))
		}
	}
	return out
}

func claimIndexKey(c v1alpha1.ClaimReference) string {
	return "claim/" + c.APIGroup + "/" + c.Namespace + "/" + c.Name
}

func unnamedSyncKey(c v1alpha1.ClaimReference) string { return "sync of " + claimIndexKey(c) }

func syncIndexKey(name string) string { return "sync/" + name }

func siteIndexKey(name string) string { return "site/" + name }

func configIndexKey(name string) string { return "config/" + name }

// wakerIndexes returns the indexes of the waker.
func wakerIndexes() []listing.Index {
	return []listing.Index{openGateIndex(), siteSecretIndex(), ownSecretIndex(), sharedSecretIndex()}
}

// siteSecretIndex finds Sites by the Secrets of their Prometheus servers and of their clusters.
func siteSecretIndex() listing.Index {
	return listing.NewIndex(&catalogv1alpha1.Site{}, "intentplane.gate.secret", func(s *catalogv1alpha1.Site) []string { return secretIndexKeys(secretsOfSite(s)) })
}

// ownSecretIndex finds ProviderConfigs by the Secrets of their Prometheus servers.
func ownSecretIndex() listing.Index {
	return listing.NewIndex(&configv1alpha1.ProviderConfig{}, "intentplane.gate.secret", func(c *configv1alpha1.ProviderConfig) []string {
		return metricsKeys(credentials.Config{Kind: policy.KindProviderConfig, Namespace: c.GetNamespace()}, c.Spec.Metrics)
	})
}

// sharedSecretIndex finds ClusterProviderConfigs by the Secrets of their Prometheus servers.
func sharedSecretIndex() listing.Index {
	return listing.NewIndex(&configv1alpha1.ClusterProviderConfig{}, "intentplane.gate.secret", func(c *configv1alpha1.ClusterProviderConfig) []string {
		return metricsKeys(credentials.Config{Kind: policy.KindClusterProviderConfig}, c.Spec.Metrics)
	})
}

// metricsKeys returns the keys of the Secrets for the Prometheus server of a configuration.
func metricsKeys(c credentials.Config, m *configv1alpha1.Metrics) []string {
	if m == nil || m.Prometheus == nil {
		return nil
	}
	return secretIndexKeys(credentials.MetricsSecrets(c, *m.Prometheus))
}

func secretIndexKeys(secrets []client.ObjectKey) []string {
	out := make([]string, 0, len(secrets))
	for _, s := range secrets {
		out = append(out, s.String())
	}
	return out
}

// A waker finds the Gates that a change of something else concerns. Gates that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

// requestsFor returns requests for the Gates without a verdict that have any of some keys.
func (w waker) requestsFor(ctx context.Context, keys []string, o ...client.ListOption) []reconcile.Request {
	out, err := openGateIndex().Requests(ctx, w.kube, &v1alpha1.GateList{}, keys, o...)
	if err != nil {
		w.log.Info("Cannot find the Gates that an event concerns", "error", err)
	}
	return out
}

// requestsForSync wakes the Gates that name the SiteSync, and the Gates of its claim that name none.
func (w waker) requestsForSync(ctx context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*deliveryv1alpha1.SiteSync)
	if !ok {
		return nil
	}
	keys := []string{syncIndexKey(s.GetName()), unnamedSyncKey(s.Spec.ForProvider.ClaimRef)}
	return w.requestsFor(ctx, keys, client.InNamespace(o.GetNamespace()), client.Limit(maxWoken))
}

// requestsForDelivery wakes the Gates of the same claim.
func (w waker) requestsForDelivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*deliveryv1alpha1.GitDelivery)
	if !ok {
		return nil
	}
	return w.requestsFor(ctx, []string{claimIndexKey(d.Spec.ForProvider.ClaimRef)}, client.InNamespace(o.GetNamespace()), client.Limit(maxWoken))
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsFor(ctx, []string{siteIndexKey(o.GetName())})
}

// requestsForConfig requeues the Gates that name a configuration. A cluster-scoped configuration requeues Gates in all namespaces.
func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsFor(ctx, []string{configIndexKey(o.GetName())}, client.InNamespace(o.GetNamespace()))
}

// requestsForSecret wakes the Gates that it may give credentials, for a Prometheus server or for the cluster of a Site.
func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	secret, namespace := []string{client.ObjectKeyFromObject(o).String()}, client.InNamespace(o.GetNamespace())
	sites, siteErr := siteSecretIndex().Requests(ctx, w.kube, &catalogv1alpha1.SiteList{}, secret)
	own, ownErr := ownSecretIndex().Requests(ctx, w.kube, &configv1alpha1.ProviderConfigList{}, secret, namespace)
	shared, sharedErr := sharedSecretIndex().Requests(ctx, w.kube, &configv1alpha1.ClusterProviderConfigList{}, secret)
	if err := errors.Join(siteErr, ownErr, sharedErr); err != nil {
		w.log.Info("Cannot list the objects that name a Secret", "error", err)
	}
	return slices.Concat(
		w.requestsFor(ctx, keysOfNames(sites, siteIndexKey)),
		w.requestsFor(ctx, keysOfNames(own, configIndexKey), namespace),
		w.requestsFor(ctx, keysOfNames(shared, configIndexKey)),
	)
}

// keysOfNames returns the keys of found objects.
func keysOfNames(found []reconcile.Request, key func(name string) string) []string {
	out := make([]string, 0, len(found))
	for _, r := range found {
		out = append(out, key(r.Name))
	}
	return out
}

// secretsOfSite returns the Secrets of a Site, for its Prometheus server and its cluster.
func secretsOfSite(s *catalogv1alpha1.Site) []client.ObjectKey {
	out := endpoint.Secrets(s)
	if ref, _ := clusters.KubeconfigOf(s); ref != nil {
		out = append(out, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	}
	return out
}

// statusWasEmptied lets through a status that lost its memory.
func statusWasEmptied() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.Gate)
		current, ok2 := e.ObjectNew.(*v1alpha1.Gate)
		return ok && ok2 && previous.Status.AtProvider.ObservedPosition().Revision > 0 && current.Status.AtProvider.ObservedPosition().Revision == 0
	}}
}
