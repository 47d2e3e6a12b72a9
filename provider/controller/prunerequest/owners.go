package prunerequest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/prune"
	"github.com/intentplane/intentplane/provider/usage"
)

// claimReference names a claim.
type claimReference = rolloutv1alpha1.ClaimReference

// Labels of a composite that name its claim.
const (
	labelClaimNamespace = "crossplane.io/claim-namespace"
	labelClaimName      = "crossplane.io/claim-name"
)

// deploymentKinds are the kinds that name claims: both shapes, and the composite of a claim.
func deploymentKinds() []schema.GroupVersionKind {
	claims := schema.GroupVersion{Group: deploymentv1alpha1.GroupClaims, Version: deploymentv1alpha1.Version}
	namespaced := schema.GroupVersion{Group: deploymentv1alpha1.GroupNamespaced, Version: deploymentv1alpha1.Version}
	return []schema.GroupVersionKind{
		claims.WithKind(deploymentv1alpha1.Kind), claims.WithKind("X" + deploymentv1alpha1.Kind), namespaced.WithKind(deploymentv1alpha1.Kind),
	}
}

// A clusterFacts has the API server's objects about the owners of directories, at a time. It is gathered before a plan waits in the queue of
// a repository: a plan that has its turn there asks the API server nothing, and all deliveries to the repository would wait for it.
type clusterFacts struct {
	gatheredAt time.Time
	// owners has the living objects, the kinds that cannot be listed, and the deliveries into the repository.
	owners prune.Facts
	// deliveries are the generations of all GitDeliveries.
	deliveries map[types.UID]int64
	// irreversible are the kinds that Blueprints mark so.
	irreversible map[string]bool
	// engines says for each Site whether an engine reads its directory.
	engines map[string]bool
}

// factsBytes is the approximate memory of the owners of all directories.
const factsBytes = 16 << 20

// gatherCluster gathers the API server's objects about owners, past caches. The namespace of the request pays for the memory, and waits for no other namespace.
func (g *gatherer) gatherCluster(ctx context.Context) error {
	release, err := memory.Reserve(ctx, g.request.GetNamespace(), factsBytes)
	if err != nil {
		return errors.Wrap(err, "cannot list owners of directories")
	}
	defer release()
	g.cluster = &clusterFacts{gatheredAt: g.now(), deliveries: map[types.UID]int64{}, irreversible: map[string]bool{}, engines: map[string]bool{}}
	if err := g.gatherOwners(ctx, &g.cluster.owners); err != nil {
		return err
	}
	blueprints := &catalogv1alpha1.BlueprintList{}
	err = listing.EachPage(ctx, g.live, blueprints, func() { maps.Copy(g.cluster.irreversible, prune.IrreversibleKinds(blueprints.Items)) })
	if err != nil {
		return errors.Wrap(err, "cannot list Blueprints")
	}
	sites := &catalogv1alpha1.SiteList{}
	err = listing.EachPage(ctx, g.live, sites, func() {
		for i := range sites.Items {
			g.cluster.engines[sites.Items[i].GetName()] = sites.Items[i].HasEngine()
		}
	})
	return errors.Wrap(err, "cannot list Sites")
}

// areFactsOutdated reports whether the facts are old, or a delivery that came or changed since then names one of some directories. It reads from the cache.
func (g *gatherer) areFactsOutdated(ctx context.Context, items []prune.Item) (bool, error) {
	if g.now().Sub(g.cluster.gatheredAt) > maxFactsAge {
		return true, nil
	}
	pruned, l := map[string]bool{}, &deliveryv1alpha1.GitDeliveryList{}
	for _, i := range items {
		pruned[i.Path] = true
	}
	if err := listing.Cached(ctx, g.kube, l); err != nil {
		return false, errors.Wrap(err, "cannot list GitDeliveries")
	}
	return slices.ContainsFunc(l.Items, func(d deliveryv1alpha1.GitDelivery) bool {
		generation, isKnown := g.cluster.deliveries[d.GetUID()]
		isNews := !isKnown || generation != d.GetGeneration()
		return isNews && slices.ContainsFunc(g.pathsOfDelivery(&d), func(path string) bool { return pruned[path] })
	}), nil
}

// gatherOwners adds all objects that may own a directory to the facts, read past caches.
func (g *gatherer) gatherOwners(ctx context.Context, f *prune.Facts) error {
	for _, kind := range deploymentKinds() {
		if err := g.listDeployments(ctx, f, kind); err != nil {
			return err
		}
	}
	configs, err := g.configsOfRepository(ctx)
	if err != nil {
		return err
	}
	if err := g.listDeliveries(ctx, f, configs); err != nil {
		return err
	}
	return g.listSiteSyncs(ctx, f)
}

// eachPageIfAllowed lists all objects of a kind, page by page. It is false if the provider may not list them.
func (g *gatherer) eachPageIfAllowed(ctx context.Context, l client.ObjectList, read func()) (bool, error) {
	err := listing.EachPage(ctx, g.live, l, read)
	if kerrors.IsForbidden(err) {
		return false, nil
	}
	return true, err
}

// listDeployments adds the claims and composites of a kind. A kind without a definition has no objects.
func (g *gatherer) listDeployments(ctx context.Context, f *prune.Facts, kind schema.GroupVersionKind) error {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	may, err := g.eachPageIfAllowed(ctx, l, func() {
		for i := range l.Items {
			f.Living = append(f.Living, livingDeployment(kind, &l.Items[i]))
		}
	})
	if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		may, err = listing.IsUndefined(ctx, g.live, kind)
	}
	if !may && err == nil {
		f.Unlisted = append(f.Unlisted, kind.GroupKind().String())
	}
	return errors.Wrapf(err, "cannot list %s", kind.GroupKind())
}

// livingDeployment returns the claim of a claim or a composite.
func livingDeployment(kind schema.GroupVersionKind, o *metav1.PartialObjectMetadata) prune.Living {
	claim := claimReference{APIGroup: kind.Group, Kind: deploymentv1alpha1.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	if o.GetNamespace() == "" {
		claim.Namespace, claim.Name = o.GetLabels()[labelClaimNamespace], o.GetLabels()[labelClaimName]
	}
	return livingObject(kind.Kind, o, claim)
}

func livingObject(kind string, o client.Object, claim claimReference, paths ...string) prune.Living {
	return prune.Living{
		Kind: kind, Namespace: claim.Namespace, Name: o.GetName(), Claim: claim, Paths: paths,
		Deleting: meta.WasDeleted(o), Pinned: o.GetLabels()[v1alpha1.LabelPrune] == v1alpha1.PruneKeep,
	}
}

// configsOfRepository returns the configurations that name the repository, by usage.Key.
func (g *gatherer) configsOfRepository(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	configs := &configv1alpha1.ProviderConfigList{}
	err := listing.EachPage(ctx, g.live, configs, func() {
		for i := range configs.Items {
			out[usage.Key(policy.KindProviderConfig, client.ObjectKeyFromObject(&configs.Items[i]))] = g.isSameRepository(configs.Items[i].Spec.Git.URL)
		}
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot list ProviderConfigs")
	}
	shared := &configv1alpha1.ClusterProviderConfigList{}
	err = listing.EachPage(ctx, g.live, shared, func() {
		for i := range shared.Items {
			out[usage.Key(policy.KindClusterProviderConfig, client.ObjectKeyFromObject(&shared.Items[i]))] = g.isSameRepository(shared.Items[i].Spec.Git.URL)
		}
	})
	return out, errors.Wrap(err, "cannot list ClusterProviderConfigs")
}

func (g *gatherer) isSameRepository(url string) bool {
	if url == g.opened.Config.Git.URL {
		return true
	}
	ours, err := policy.ParseRepositoryURL(g.opened.Config.Git.URL)
	if err != nil {
		return false
	}
	theirs, err := policy.ParseRepositoryURL(url)
	return err == nil && ours.Key() == theirs.Key()
}

// listDeliveries adds the GitDeliveries: all of them by their claims, and deliveries into the repository by their paths, too.
func (g *gatherer) listDeliveries(ctx context.Context, f *prune.Facts, configs map[string]bool) error {
	l := &deliveryv1alpha1.GitDeliveryList{}
	may, err := g.eachPageIfAllowed(ctx, l, func() {
		for i := range l.Items {
			g.cluster.deliveries[l.Items[i].GetUID()] = l.Items[i].GetGeneration()
			g.addDelivery(f, &l.Items[i], configs)
		}
	})
	if !may {
		f.Unlisted = append(f.Unlisted, "GitDelivery")
	}
	return errors.Wrap(err, "cannot list GitDeliveries")
}

func (g *gatherer) addDelivery(f *prune.Facts, d *deliveryv1alpha1.GitDelivery, configs map[string]bool) {
	ref, paths := d.GetProviderConfigReference(), []string{}
	// Where a configuration is gone, the delivery may have written to any repository.
	if ref != nil {
		isHere, isKnown := configs[usage.Key(ref.Kind, client.ObjectKey{Namespace: d.GetNamespace(), Name: ref.Name})]
		if isHere || !isKnown {
			paths = g.pathsOfDelivery(d)
		}
		if (isHere || !isKnown) && g.isTrustedConfig(d.GetNamespace(), *ref) {
			f.Repository.Deliveries = append(f.Repository.Deliveries, prune.Delivery{
				Namespace: d.GetNamespace(), Name: d.GetName(), Reason: string(d.GetCondition(xpv2.TypeReady).Reason),
			})
		}
	}
	f.Living = append(f.Living, livingObject("GitDelivery", d, d.Spec.ForProvider.ClaimRef, paths...))
}

// isTrustedConfig reports whether the reason of a delivery may refuse a plan: its configuration is the request's, or the platform's. A tenant may
// write the platform's URL into a ProviderConfig, and the credentials, the proxy and the server behind it say nothing about the platform's
// repository.
func (g *gatherer) isTrustedConfig(namespace string, ref xpv2.ProviderConfigReference) bool {
	configRef := g.request.Spec.ProviderConfigRef
	isOwn := ref.Kind == configRef.Kind && ref.Name == configRef.Name && namespace == g.request.GetNamespace()
	return isOwn || ref.Kind == policy.KindClusterProviderConfig
}

// pathsOfDelivery returns the directories of the branch that a delivery names, or was the last to write.
func (g *gatherer) pathsOfDelivery(d *deliveryv1alpha1.GitDelivery) []string {
	out := []string{}
	for t := range d.Spec.ForProvider.EachTree() {
		if t.Branch == g.opened.Config.Git.Branch {
			out = append(out, t.Path)
		}
	}
	for _, t := range d.Status.AtProvider.Trees {
		out = append(out, t.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (g *gatherer) listSiteSyncs(ctx context.Context, f *prune.Facts) error {
	l := &deliveryv1alpha1.SiteSyncList{}
	may, err := g.eachPageIfAllowed(ctx, l, func() {
		for i := range l.Items {
			f.Living = append(f.Living, livingObject("SiteSync", &l.Items[i], l.Items[i].Spec.ForProvider.ClaimRef))
		}
	})
	if !may {
		f.Unlisted = append(f.Unlisted, "SiteSync")
	}
	return errors.Wrap(err, "cannot list SiteSyncs")
}
