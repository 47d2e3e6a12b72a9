// Package inventory gathers the packages of Bundles, their records and the Bundles that may use them: the facts of a prune plan, past caches.
package inventory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/prune"
)

// A Gatherer gathers the facts about packages that left their bundle, past caches.
type Gatherer struct {
	// Live reads past the cache.
	Live client.Reader

	// Namespace of Crossplane, whose requests may be about other namespaces.
	Namespace string
}

// A packageGatherer gathers the facts for one plan.
type packageGatherer struct {
	Gatherer

	facts *prune.Facts

	// packages are the names of the gathered packages, by namespace and name. Of bundles and records the facts hold no other names: a Secret of ten KiB may have
	// a record with megabytes of them.
	packages map[[2]string]bool

	// undelivered are the packages that may have delivered objects, by namespace and name, until a GitDelivery shows these.
	undelivered map[[2]string]bool

	// needs are the dependencies of a bundle's packages in its record, by namespace, bundle and package.
	needs map[[2]string]map[string][]string
}

// Gather returns the facts about packages as a plan of a time has them. It returns an error if something cannot be read.
func (g Gatherer) Gather(ctx context.Context, o prune.Options, timestamp time.Time) (*prune.Facts, error) {
	o.Scope = prune.ScopeBundle
	p := &packageGatherer{
		Gatherer: g, facts: &prune.Facts{Options: o, Now: timestamp, SystemNamespace: g.Namespace},
		packages: map[[2]string]bool{}, undelivered: map[[2]string]bool{}, needs: map[[2]string]map[string][]string{},
	}
	for _, namespace := range p.coveredNamespaces() {
		if err := p.gatherNamespace(ctx, namespace); err != nil {
			return nil, err
		}
	}
	return p.facts, nil
}

// coveredNamespaces returns the namespaces that the request covers.
func (g *packageGatherer) coveredNamespaces() []string {
	ownNamespace := g.facts.Namespace
	switch {
	case ownNamespace != g.Namespace:
		return []string{ownNamespace}
	case slices.Contains(g.facts.Namespaces, "*"):
		return []string{metav1.NamespaceAll}
	}
	all := append([]string{ownNamespace}, g.facts.Namespaces...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *packageGatherer) gatherNamespace(ctx context.Context, namespace string) error {
	gathered := len(g.facts.Packages)
	// Packages come first: a bundle that adopts a package after that changes its version, and a bundle that has it already is listed.
	if err := g.listPackages(ctx, namespace); err != nil {
		return err
	}
	if err := g.listRecords(ctx, namespace); err != nil {
		return err
	}
	if err := g.listBundles(ctx, namespace); err != nil {
		return err
	}
	packages := g.facts.Packages[gathered:]
	if len(packages) == 0 {
		return nil
	}
	blueprints, marked := &catalogv1alpha1.BlueprintList{}, map[string]bool{}
	if err := listing.EachPage(ctx, g.Live, blueprints, func() { maps.Copy(marked, prune.IrreversibleKinds(blueprints.Items)) }); err != nil {
		return errors.Wrap(err, "cannot list Blueprints")
	}
	for i := range packages {
		p := &packages[i]
		p.DependsOn = g.needs[[2]string{p.Namespace, p.Bundle.Group + "/" + p.Bundle.Name}][p.Name]
	}
	return g.readDeliveries(ctx, namespace, packages, marked)
}

// readDeliveries adds the delivered trees to packages, page by page.
func (g *packageGatherer) readDeliveries(ctx context.Context, namespace string, packages []prune.Package, marked map[string]bool) error {
	byName := map[[2]string][]*prune.Package{}
	for i := range packages {
		key := [2]string{packages[i].Namespace, packages[i].Name}
		byName[key] = append(byName[key], &packages[i])
	}
	l := &deliveryv1alpha1.GitDeliveryList{}
	err := listing.EachPage(ctx, g.Live, l, func() {
		for i := range l.Items {
			g.addDeliveredTo(byName, &l.Items[i], marked)
		}
	}, client.InNamespace(namespace))
	for i := range packages {
		packages[i].Unread = packages[i].Unread || g.undelivered[[2]string{packages[i].Namespace, packages[i].Name}]
	}
	return errors.Wrap(err, "cannot list GitDeliveries")
}

// addDeliveredTo adds the trees of a GitDelivery to its packages, which a namespace and a name have in common.
func (g *packageGatherer) addDeliveredTo(packages map[[2]string][]*prune.Package, d *deliveryv1alpha1.GitDelivery, marked map[string]bool) {
	claim := d.Spec.ForProvider.ClaimRef
	if claim.APIGroup != bundlev1alpha1.GroupNamespaced {
		return
	}
	key := [2]string{d.GetNamespace(), claim.Name}
	delete(g.undelivered, key)
	for _, p := range packages[key] {
		addDelivered(p, d, marked)
	}
}

// listPackages adds the objects of a namespace that have the label of a bundle.
func (g *packageGatherer) listPackages(ctx context.Context, namespace string) error {
	for _, kind := range bundle.PackageKinds() {
		l := &unstructured.UnstructuredList{}
		add := func() {
			for i := range l.Items {
				g.addPackageObject(&l.Items[i])
			}
		}
		if err := g.listObjects(ctx, l, kind, add, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelBundle}); err != nil {
			return err
		}
	}
	return nil
}

// listObjects lists objects of a kind, and calls read after each page, which the list then has. An undefined kind has no objects, and a kind
// that may not be listed makes the plan uncertain.
func (g *packageGatherer) listObjects(ctx context.Context, l *unstructured.UnstructuredList, kind schema.GroupVersionKind, read func(), o ...client.ListOption) error {
	l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := listing.EachPage(ctx, g.Live, l, read, o...)
	may := !kerrors.IsForbidden(err)
	if kerrors.IsForbidden(err) {
		err = nil
	}
	if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		may, err = listing.IsUndefined(ctx, g.Live, kind)
	}
	if !may && err == nil {
		g.facts.Unlisted = append(g.facts.Unlisted, kind.GroupKind().String())
	}
	return errors.Wrapf(err, "cannot list %s", kind.GroupKind())
}

// listBundles adds the Bundles of both shapes with the packages in their specs, and the packages of their BundleStates: one follows the other.
func (g *packageGatherer) listBundles(ctx context.Context, namespace string) error {
	for _, kind := range bundle.Kinds() {
		l := &unstructured.UnstructuredList{}
		add := func() {
			for i := range l.Items {
				g.addBundle(l.Items[i].GetNamespace(), prune.BundleName{Group: kind.Group, Name: l.Items[i].GetName()}, packageNamesIn(&l.Items[i]))
			}
		}
		if err := g.listObjects(ctx, l, kind, add, client.InNamespace(namespace)); err != nil {
			return err
		}
	}
	states := &v1alpha1.BundleStateList{}
	err := listing.EachPage(ctx, g.Live, states, func() {
		for i := range states.Items {
			g.addBundleState(&states.Items[i])
		}
	}, client.InNamespace(namespace))
	return errors.Wrap(err, "cannot list BundleStates")
}

// addBundleState adds the packages of a BundleState.
func (g *packageGatherer) addBundleState(s *v1alpha1.BundleState) {
	p := s.Spec.ForProvider
	names := make([]string, 0, len(p.Packages))
	for _, bundlePackage := range p.Packages {
		names = append(names, bundlePackage.Name)
	}
	g.addBundle(s.GetNamespace(), prune.BundleName{Group: p.BundleRef.Group, Name: p.BundleRef.Name}, names)
}

func (g *packageGatherer) addBundle(namespace string, name prune.BundleName, packages []string) {
	g.facts.Bundles = append(g.facts.Bundles, prune.Bundle{BundleName: name, Namespace: namespace, Packages: g.onlyPackages(namespace, packages)})
}

// onlyPackages returns the names of gathered packages of a namespace, each once.
func (g *packageGatherer) onlyPackages(namespace string, names []string) []string {
	var out []string
	added := map[string]bool{}
	for _, name := range names {
		if g.packages[[2]string{namespace, name}] && !added[name] {
			added[name], out = true, append(out, name)
		}
	}
	return out
}

// packageNamesIn returns the names of the packages in the spec of a Bundle.
func packageNamesIn(b *unstructured.Unstructured) []string {
	out := []string{}
	for _, p := range bundle.PackagesIn(b) {
		name, _ := p["name"].(string)
		out = append(out, name)
	}
	return out
}

// listRecords adds the records of bundles, also the records of other programs.
func (g *packageGatherer) listRecords(ctx context.Context, namespace string) error {
	l := &corev1.SecretList{}
	err := listing.EachPage(ctx, g.Live, l, func() {
		for i := range l.Items {
			g.facts.Records = append(g.facts.Records, g.readBundleRecord(&l.Items[i]))
		}
	}, client.InNamespace(namespace), client.MatchingFields{"type": string(state.SecretType)})
	return errors.Wrap(err, "cannot list records")
}

// readBundleRecord returns the record in a Secret.
func (g *packageGatherer) readBundleRecord(secret *corev1.Secret) prune.Record {
	out := prune.Record{BundleName: bundleOfSecret(secret.GetName()), Namespace: secret.GetNamespace()}
	s, err := state.Decode(secret)
	if err != nil {
		out.IsNewer, out.IsBroken = errors.Is(err, state.ErrNewer), true
		return out
	}
	needs, uses := map[string][]string{}, []string{}
	for i := range s.PkgStatuses {
		p := &s.PkgStatuses[i]
		if g.packages[[2]string{out.Namespace, p.Name}] {
			needs[p.Name] = g.onlyPackages(out.Namespace, p.DependsOn)
		}
		if p.IsUsed() {
			uses = append(uses, p.Name)
		}
	}
	out.Uses = g.onlyPackages(out.Namespace, uses)
	g.needs[[2]string{out.Namespace, out.Group + "/" + out.Name}] = needs
	return out
}

// bundleOfSecret returns the Bundle whose record a Secret holds, by its name. A record of another program has no group.
func bundleOfSecret(secret string) prune.BundleName {
	name, isOurs := strings.CutPrefix(secret, state.Prefix)
	if !isOurs {
		return prune.BundleName{Name: secret}
	}
	if short, isNamespaced := strings.CutSuffix(name, ".ns"); isNamespaced {
		return prune.BundleName{Group: bundlev1alpha1.GroupNamespaced, Name: short}
	}
	return prune.BundleName{Group: bundlev1alpha1.GroupClaims, Name: name}
}

// addPackageObject adds an object with the labels of a bundle, without its content. Its dependencies are in a record.
func (g *packageGatherer) addPackageObject(u *unstructured.Unstructured) {
	labels := u.GetLabels()
	digest, evidence := bundle.ReadEvidence(u)
	p := prune.Package{
		Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Label: labels[v1alpha1.LabelPackage],
		Bundle: prune.BundleName{Group: labels[v1alpha1.LabelBundleGroup], Name: labels[v1alpha1.LabelBundle]}, IsMade: isMadeByBundle(u),
		SpecDigest: digest, Version: u.GetResourceVersion(), Deleting: meta.WasDeleted(u), Pinned: labels[v1alpha1.LabelPrune] == v1alpha1.PruneKeep,
	}
	if start, err := time.Parse(time.RFC3339, u.GetAnnotations()[v1alpha1.AnnotationUnreferenced]); err == nil {
		p.Since = start
	}
	g.facts.Packages = append(g.facts.Packages, p)
	key := [2]string{p.Namespace, p.Name}
	g.packages[key] = true
	if digest == "" || evidence.Revision > 0 {
		g.undelivered[key] = true
	}
	if owner := metav1.GetControllerOf(u); owner != nil {
		claim := rolloutv1alpha1.ClaimReference{APIGroup: bundlev1alpha1.GroupNamespaced, Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}
		g.facts.Living = append(g.facts.Living, prune.Living{Kind: owner.Kind, Namespace: p.Namespace, Name: owner.Name, Claim: claim})
	}
}

// isMadeByBundle reports whether the controller of bundles wrote an object.
func isMadeByBundle(u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(u.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == bundle.FieldOwner })
}

// addDelivered adds the trees that a GitDelivery delivers for a package. Files that the GitDelivery does not hold are unread.
func addDelivered(p *prune.Package, d *deliveryv1alpha1.GitDelivery, marked map[string]bool) {
	if reason := d.GetCondition(xpv2.TypeReady).Reason; reason != "" {
		p.Reason = string(reason)
	}
	for t := range d.Spec.ForProvider.EachTree() {
		if t.Action == deliveryv1alpha1.ActionKeep && directories.HasLater(d.Spec.ForProvider, t) {
			continue
		}
		files, err := tree.Decode(t.Files)
		objects := prune.ObjectsOf(files)
		if err != nil || len(t.Files) == 0 || objects == nil {
			p.Unread = true
			continue
		}
		for _, o := range objects {
			o.Irreversible = marked[o.Kind]
			p.Objects = append(p.Objects, o)
		}
	}
}
