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

const (
	// openField finds Gates without a verdict, which are all that a change of something else can concern: all of them, or those of a claim, or those that name a
	// SiteSync.
	openField = "intentplane.gate.open"

	// anyOpen is the key of all Gates without a verdict.
	anyOpen = "any"

	// maxWoken is the maximum number of Gates that an event about one claim wakes. A deployment has a Gate for each of its 20 steps, and a tenant may write any
	// number in its name, and the events.
	maxWoken = 64
)

func indexOpenGates(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.Gate{}, openField, openIndexKeys), "cannot index Gates without a verdict")
}

func openIndexKeys(o client.Object) []string {
	g, ok := o.(*v1alpha1.Gate)
	if !ok || g.Status.AtProvider.Verdict != "" {
		return nil
	}
	out := []string{anyOpen, openClaimKey(g.Spec.ForProvider.ClaimRef)}
	if ref := g.Spec.ForProvider.SiteSyncRef; ref != nil {
		out = append(out, openSyncKey(ref.Name))
	}
	return out
}

func openClaimKey(c v1alpha1.ClaimReference) string {
	return "claim/" + c.APIGroup + "/" + c.Namespace + "/" + c.Name
}

func openSyncKey(name string) string { return "sync/" + name }

// A waker finds the Gates that a change of something else concerns. Gates that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

// listOpenGates returns requests for the Gates under a key of the index that a function selects.
func (w waker) listOpenGates(ctx context.Context, key string, keep func(*v1alpha1.Gate) bool, o ...client.ListOption) []reconcile.Request {
	l := &v1alpha1.GateList{}
	if err := listing.Cached(ctx, w.kube, l, append(o, client.MatchingFields{openField: key})...); err != nil {
		w.log.Info("Cannot list Gates", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		if keep(&l.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}

// requestsForSync wakes the Gates that name the SiteSync, and the Gates of its claim that name none.
func (w waker) requestsForSync(ctx context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*deliveryv1alpha1.SiteSync)
	if !ok {
		return nil
	}
	out := w.listOpenGates(ctx, openSyncKey(s.GetName()), anyGate, client.InNamespace(o.GetNamespace()), client.Limit(maxWoken))
	return append(out, w.listOpenGates(ctx, openClaimKey(s.Spec.ForProvider.ClaimRef), namesNoSync, client.InNamespace(o.GetNamespace()), client.Limit(maxWoken))...)
}

func anyGate(*v1alpha1.Gate) bool { return true }

func namesNoSync(g *v1alpha1.Gate) bool { return g.Spec.ForProvider.SiteSyncRef == nil }

// requestsForDelivery wakes the Gates of the same claim.
func (w waker) requestsForDelivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*deliveryv1alpha1.GitDelivery)
	if !ok {
		return nil
	}
	return w.listOpenGates(ctx, openClaimKey(d.Spec.ForProvider.ClaimRef), anyGate, client.InNamespace(o.GetNamespace()), client.Limit(maxWoken))
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsForChecks(ctx, func(_ *v1alpha1.Gate, c v1alpha1.GateCheck) bool { return c.Site == o.GetName() })
}

// requestsForConfig requeues the Gates that name a configuration. A cluster-scoped configuration requeues Gates in all namespaces.
func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsForConfigs(ctx, map[string]bool{o.GetName(): true}, client.InNamespace(o.GetNamespace()))
}

// requestsForConfigs requeues the Gates that name any of the configurations.
func (w waker) requestsForConfigs(ctx context.Context, names map[string]bool, o ...client.ListOption) []reconcile.Request {
	return w.requestsForChecks(ctx, func(g *v1alpha1.Gate, c v1alpha1.GateCheck) bool {
		ref := g.ConfigOf(c)
		return ref != nil && names[ref.Name]
	}, o...)
}

// requestsForChecks wakes the Gates with a check that a change concerns.
func (w waker) requestsForChecks(ctx context.Context, concerns func(*v1alpha1.Gate, v1alpha1.GateCheck) bool, o ...client.ListOption) []reconcile.Request {
	return w.listOpenGates(ctx, anyOpen, func(g *v1alpha1.Gate) bool {
		return slices.ContainsFunc(g.Spec.ForProvider.Checks, func(c v1alpha1.GateCheck) bool { return concerns(g, c) })
	}, o...)
}

// requestsForSecret wakes the Gates that it may give credentials, for a Prometheus server or for the cluster of a Site. It lists Gates at most three times: a
// tenant may name a Secret in any number of configurations.
func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	key := client.ObjectKeyFromObject(o)
	siteList, configs, all := &catalogv1alpha1.SiteList{}, &configv1alpha1.ProviderConfigList{}, &configv1alpha1.ClusterProviderConfigList{}
	err := errors.Join(listing.Cached(ctx, w.kube, siteList), listing.Cached(ctx, w.kube, configs, client.InNamespace(key.Namespace)), listing.Cached(ctx, w.kube, all))
	if err != nil {
		w.log.Info("Cannot list who names a Secret", "error", err)
	}
	sites, own, shared := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range siteList.Items {
		if s := &siteList.Items[i]; slices.Contains(secretsOf(s), key) {
			sites[s.GetName()] = true
		}
	}
	for i := range configs.Items {
		if c := &configs.Items[i]; namesSecret(credentials.Config{Kind: policy.KindProviderConfig, Namespace: key.Namespace}, c.Spec, key) {
			own[c.GetName()] = true
		}
	}
	for i := range all.Items {
		if c := &all.Items[i]; namesSecret(credentials.Config{Kind: policy.KindClusterProviderConfig}, c.Spec, key) {
			shared[c.GetName()] = true
		}
	}
	out := []reconcile.Request{}
	if len(sites) > 0 {
		out = append(out, w.requestsForChecks(ctx, func(_ *v1alpha1.Gate, c v1alpha1.GateCheck) bool { return sites[c.Site] })...)
	}
	if len(own) > 0 {
		out = append(out, w.requestsForConfigs(ctx, own, client.InNamespace(key.Namespace))...)
	}
	if len(shared) > 0 {
		out = append(out, w.requestsForConfigs(ctx, shared)...)
	}
	return out
}

// secretsOf returns the Secrets of a Site, for its Prometheus server and its cluster.
func secretsOf(s *catalogv1alpha1.Site) []client.ObjectKey {
	out := endpoint.Secrets(s)
	if ref, _ := clusters.KubeconfigOf(s); ref != nil {
		out = append(out, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	}
	return out
}

// namesSecret is true for a configuration whose Prometheus server a Secret is for.
func namesSecret(c credentials.Config, spec configv1alpha1.ProviderConfigSpec, key client.ObjectKey) bool {
	m := spec.Metrics
	return m != nil && m.Prometheus != nil && slices.Contains(credentials.MetricsSecrets(c, *m.Prometheus), key)
}

// statusWasEmptied lets through a status that lost its memory.
func statusWasEmptied() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.Gate)
		current, ok2 := e.ObjectNew.(*v1alpha1.Gate)
		return ok && ok2 && previous.Status.AtProvider.ObservedPosition().Revision > 0 && current.Status.AtProvider.ObservedPosition().Revision == 0
	}}
}
