// Package usage finds the managed resources that use a configuration or a Site, or that are for a claim, at the cost of these alone: it reads none of the other
// objects of their namespace, of which a tenant may have any number.
package usage

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/listing"
)

const (
	// maxDeliveries is the maximum number of GitDeliveries that are read for one claim. A deployment has one for the repository of each of its Sites, and as many
	// for repositories that its Sites left. A tenant may create any number in its name.
	maxDeliveries = 2 * ledger.MaxSites

	// maxWitnesses is the maximum number of SiteSyncs, and of Gates, that are read for one claim. A deployment has one SiteSync, and a Gate for each of its 20
	// steps.
	maxWitnesses = 64
)

// Index adds the indexes of GitDeliveries by the configurations, Sites and claims that they use, of SiteSyncs by their claims, and of configurations by their
// Secrets. It is called once for each cache. It returns an error if the cache already has an index.
func Index(ctx context.Context, i client.FieldIndexer) error {
	return listing.AddIndexes(ctx, i, configIndex(), siteIndex(), deliveryIndex(), syncIndex(),
		secretIndex(&configv1alpha1.ProviderConfig{}), secretIndex(&configv1alpha1.ClusterProviderConfig{}))
}

// IndexGates adds the index of Gates by their claims, once Gates are served. It is called once for each cache. It returns an error if the cache already has the
// index.
func IndexGates(ctx context.Context, i client.FieldIndexer) error {
	return listing.AddIndexes(ctx, i, gateIndex())
}

// configIndex finds GitDeliveries by their configurations.
func configIndex() listing.Index {
	return listing.NewIndex(&deliveryv1alpha1.GitDelivery{}, "intentplane.config", func(d *deliveryv1alpha1.GitDelivery) []string {
		ref := d.GetProviderConfigReference()
		if ref == nil {
			return nil
		}
		return []string{Key(ref.Kind, client.ObjectKey{Namespace: d.GetNamespace(), Name: ref.Name})}
	})
}

// siteIndex finds GitDeliveries by their Sites.
func siteIndex() listing.Index {
	return listing.NewIndex(&deliveryv1alpha1.GitDelivery{}, "intentplane.site", Sites)
}

// deliveryIndex finds GitDeliveries by their claims.
func deliveryIndex() listing.Index {
	return claimIndex(&deliveryv1alpha1.GitDelivery{}, func(d *deliveryv1alpha1.GitDelivery) rolloutv1alpha1.ClaimReference {
		return d.Spec.ForProvider.ClaimRef
	})
}

// syncIndex finds SiteSyncs by their claims.
func syncIndex() listing.Index {
	return claimIndex(&deliveryv1alpha1.SiteSync{}, func(s *deliveryv1alpha1.SiteSync) rolloutv1alpha1.ClaimReference { return s.Spec.ForProvider.ClaimRef })
}

// gateIndex finds Gates by their claims.
func gateIndex() listing.Index {
	return claimIndex(&rolloutv1alpha1.Gate{}, func(g *rolloutv1alpha1.Gate) rolloutv1alpha1.ClaimReference { return g.Spec.ForProvider.ClaimRef })
}

func claimIndex[O client.Object](object O, claimOf func(O) rolloutv1alpha1.ClaimReference) listing.Index {
	return listing.NewIndex(object, "intentplane.claim", func(o O) []string { return []string{claimIndexKey(claimOf(o))} })
}

// secretIndex finds configurations of the kind of an object by their Secrets.
func secretIndex(config client.Object) listing.Index {
	return listing.NewIndex(config, "intentplane.secret", func(c client.Object) []string {
		secrets := SecretsOf(c)
		out := make([]string, 0, len(secrets))
		for _, s := range secrets {
			out = append(out, s.String())
		}
		return out
	})
}

// OfConfig returns the GitDeliveries that name a configuration. It returns an error if they cannot be listed, or if c is not a configuration.
func OfConfig(ctx context.Context, r client.Reader, c client.Object) ([]deliveryv1alpha1.GitDelivery, error) {
	kind, spec := kindAndSpec(c)
	if spec == nil {
		return nil, errors.Errorf("cannot list GitDeliveries of %T", c)
	}
	l := &deliveryv1alpha1.GitDeliveryList{}
	err := configIndex().List(ctx, r, l, Key(kind, client.ObjectKeyFromObject(c)))
	return l.Items, errors.Wrapf(err, "cannot list GitDeliveries of %s %q", kind, c.GetName())
}

// Holders returns the GitDeliveries that a configuration has to stay for: GitDeliveries that may use it, and GitDeliveries that may have
// written to its repository before they were refused. A GitDelivery that only names the configuration does not count, otherwise any tenant
// who may create a GitDelivery could keep a ClusterProviderConfig. It returns an error if they cannot be listed, or if c is not a
// configuration.
func Holders(ctx context.Context, r client.Reader, c client.Object) ([]deliveryv1alpha1.GitDelivery, error) {
	ds, err := OfConfig(ctx, r, c)
	kind, spec := kindAndSpec(c)
	return slices.DeleteFunc(ds, func(d deliveryv1alpha1.GitDelivery) bool {
		return policy.CheckConfig(kind, spec, d.GetNamespace()) != nil && !mayHaveWritten(&d)
	}), err
}

// ConfigsWithSecret returns the configurations that name a Secret. It returns an error if configurations cannot be listed.
func ConfigsWithSecret(ctx context.Context, r client.Reader, secret client.ObjectKey) ([]client.Object, error) {
	namespaced := &configv1alpha1.ProviderConfigList{}
	if err := secretIndex(&configv1alpha1.ProviderConfig{}).List(ctx, r, namespaced, secret.String(), client.InNamespace(secret.Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list ProviderConfigs")
	}
	shared := &configv1alpha1.ClusterProviderConfigList{}
	if err := secretIndex(&configv1alpha1.ClusterProviderConfig{}).List(ctx, r, shared, secret.String()); err != nil {
		return nil, errors.Wrap(err, "cannot list ClusterProviderConfigs")
	}
	out := []client.Object{}
	for i := range namespaced.Items {
		out = append(out, &namespaced.Items[i])
	}
	for i := range shared.Items {
		out = append(out, &shared.Items[i])
	}
	return out, nil
}

// SecretsOf returns the Secrets that a configuration names.
func SecretsOf(c client.Object) []client.ObjectKey {
	kind, spec := kindAndSpec(c)
	if spec == nil {
		return nil
	}
	return credentials.Secrets(credentials.Config{Kind: kind, Namespace: c.GetNamespace(), Remote: spec.Git})
}

// maxNamed is how many GitDeliveries a message names.
const maxNamed = 3

// Describe names the GitDeliveries that a deletion waits for, and the remedy. It names a few of the GitDeliveries, sorted, and no number that
// changes with each of them.
func Describe(noun string, users []deliveryv1alpha1.GitDelivery) string {
	names := []string{}
	for i := range users {
		names = append(names, users[i].GetNamespace()+"/"+users[i].GetName())
	}
	slices.Sort(names)
	named := "GitDelivery " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		named += " and others"
	}
	return "the deletion waits, for the " + noun + " is used by " + named + ": delete their deployments, or let them use another configuration"
}

// mayHaveWritten reports whether a GitDelivery may have written to a repository. Its author can write the finalizer, but not the status. An
// attempt is recorded before anything is pushed, and a position after that. Without the finalizer nothing is cleaned up.
func mayHaveWritten(d *deliveryv1alpha1.GitDelivery) bool {
	observation := d.Status.AtProvider
	return meta.FinalizerExists(d, managed.FinalizerName) && (observation.Record != nil || observation.Attempt != nil || observation.Ledger != nil && observation.Ledger.Seq > 0)
}

func kindAndSpec(o client.Object) (string, *configv1alpha1.ProviderConfigSpec) {
	switch c := o.(type) {
	case *configv1alpha1.ProviderConfig:
		return policy.KindProviderConfig, &c.Spec
	case *configv1alpha1.ClusterProviderConfig:
		return policy.KindClusterProviderConfig, &c.Spec
	}
	return "", nil
}

// OfSite returns the GitDeliveries that have a directory for a Site. It returns an error if they cannot be listed.
func OfSite(ctx context.Context, r client.Reader, site string) ([]deliveryv1alpha1.GitDelivery, error) {
	l := &deliveryv1alpha1.GitDeliveryList{}
	err := siteIndex().List(ctx, r, l, site)
	return l.Items, errors.Wrapf(err, "cannot list GitDeliveries of Site %q", site)
}

// OfClaim returns the GitDeliveries in a claim's namespace that are for the claim, in whichever of its shapes that has this API group, and at most
// maxDeliveries of them. It returns an error if they cannot be listed.
func OfClaim(ctx context.Context, r client.Reader, c rolloutv1alpha1.ClaimReference) ([]deliveryv1alpha1.GitDelivery, error) {
	l := &deliveryv1alpha1.GitDeliveryList{}
	err := deliveryIndex().List(ctx, r, l, claimIndexKey(c), client.InNamespace(c.Namespace), client.Limit(maxDeliveries))
	return l.Items, errors.Wrapf(err, "cannot list GitDeliveries of claim %q", c.Name)
}

// SyncsOfClaim returns the SiteSyncs in a namespace that are for a claim. It returns an error if they cannot be listed.
func SyncsOfClaim(ctx context.Context, r client.Reader, namespace string, c rolloutv1alpha1.ClaimReference) ([]deliveryv1alpha1.SiteSync, error) {
	l := &deliveryv1alpha1.SiteSyncList{}
	err := syncIndex().List(ctx, r, l, claimIndexKey(c), client.InNamespace(namespace), client.Limit(maxWitnesses))
	return l.Items, errors.Wrapf(err, "cannot list SiteSyncs of claim %q", c.Name)
}

// GatesOfClaim returns the Gates in a claim's namespace that are for the claim. It returns an error if they cannot be listed, as before IndexGates was called.
func GatesOfClaim(ctx context.Context, r client.Reader, c rolloutv1alpha1.ClaimReference) ([]rolloutv1alpha1.Gate, error) {
	l := &rolloutv1alpha1.GateList{}
	err := gateIndex().List(ctx, r, l, claimIndexKey(c), client.InNamespace(c.Namespace), client.Limit(maxWitnesses))
	return l.Items, errors.Wrapf(err, "cannot list Gates of claim %q", c.Name)
}

func claimIndexKey(c rolloutv1alpha1.ClaimReference) string {
	return c.APIGroup + "/" + c.Namespace + "/" + c.Name
}

// Key of a configuration in the index.
func Key(kind string, key client.ObjectKey) string {
	if kind == policy.KindClusterProviderConfig {
		return kind + "//" + key.Name
	}
	return kind + "/" + key.Namespace + "/" + key.Name
}

// Sites that a GitDelivery has directories for.
func Sites(d *deliveryv1alpha1.GitDelivery) []string {
	visited, out := map[string]bool{}, []string{}
	add := func(site string) {
		if !visited[site] {
			visited[site] = true
			out = append(out, site)
		}
	}
	for t := range d.Spec.ForProvider.EachTree() {
		add(t.Site)
	}
	return out
}
