package prunerequest

import (
	"context"
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
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/controller/bundlestate"
	"github.com/intentplane/intentplane/provider/prune"
)

// A packageGatherer gathers the facts about a request of scope Bundle, past caches.
type packageGatherer struct {
	*gatherer

	facts *prune.Facts

	// needs are what packages of a bundle depend on, as its record has it, by namespace, bundle and package.
	needs map[[2]string]map[string][]string
}

// gatherPackages gathers the facts about packages as a plan of a time has them.
func (r *Reconciler) gatherPackages(ctx context.Context, pr *v1alpha1.PruneRequest, at time.Time) (*prune.Facts, error) {
	f := &prune.Facts{Options: optionsOf(pr), Now: at, SystemNamespace: r.namespace}
	f.Scope = prune.ScopeBundle
	if b := pr.Spec.Bundle; b != nil {
		f.Bundle = prune.BundleName{Group: b.Group, Name: b.Name}
	}
	g := &packageGatherer{gatherer: &gatherer{Reconciler: r, request: pr}, facts: f, needs: map[[2]string]map[string][]string{}}
	for _, namespace := range g.namespaces() {
		if err := g.gatherNamespace(ctx, namespace); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// optionsOf returns what a request asks for, whatever its scope.
func optionsOf(pr *v1alpha1.PruneRequest) prune.Options {
	o := prune.Options{
		Scope: prune.ScopeDirectories, Namespace: pr.GetNamespace(), Namespaces: pr.Spec.Namespaces, Only: pr.Spec.Only,
		AllowMost: pr.Spec.AllowMost, AllowStateful: pr.Spec.AllowStateful,
	}
	if pr.Spec.MinAge != nil {
		o.MinAge = pr.Spec.MinAge.Duration
	}
	return o
}

// namespaces returns those that the request covers. "" stands for all.
func (g *packageGatherer) namespaces() []string {
	own := g.request.GetNamespace()
	switch {
	case own != g.namespace:
		return []string{own}
	case slices.Contains(g.request.Spec.Namespaces, "*"):
		return []string{metav1.NamespaceAll}
	}
	all := append([]string{own}, g.request.Spec.Namespaces...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *packageGatherer) gatherNamespace(ctx context.Context, namespace string) error {
	if err := g.listRecords(ctx, namespace); err != nil {
		return err
	}
	if err := g.listBundles(ctx, namespace); err != nil {
		return err
	}
	deliveries := &deliveryv1alpha1.GitDeliveryList{}
	if err := g.live.List(ctx, deliveries, client.InNamespace(namespace)); err != nil {
		return errors.Wrap(err, "cannot list GitDeliveries")
	}
	marked, err := g.irreversibleKinds(ctx)
	if err != nil {
		return err
	}
	for _, kind := range bundlestate.PackageKinds() {
		l := &unstructured.UnstructuredList{}
		if err := g.listObjects(ctx, l, kind, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelBundle}); err != nil {
			return err
		}
		for i := range l.Items {
			g.addPackage(&l.Items[i], deliveries.Items, marked)
		}
	}
	return nil
}

// listObjects lists objects of a kind. Of one that is not defined there are none, and one that may not be listed makes the plan uncertain.
func (g *packageGatherer) listObjects(ctx context.Context, l *unstructured.UnstructuredList, kind schema.GroupVersionKind, o ...client.ListOption) error {
	l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := g.live.List(ctx, l, o...)
	may := !kerrors.IsForbidden(err)
	if kerrors.IsForbidden(err) {
		err = nil
	}
	if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		may, err = g.isUndefined(ctx, kind)
	}
	if !may && err == nil {
		g.facts.Unlisted = append(g.facts.Unlisted, kind.GroupKind().String())
	}
	return errors.Wrapf(err, "cannot list %s", kind.GroupKind())
}

// listBundles adds the Bundles of both shapes with the packages that they name, and those of their BundleStates: one follows the other.
func (g *packageGatherer) listBundles(ctx context.Context, namespace string) error {
	for _, group := range []string{bundlev1alpha1.GroupClaims, bundlev1alpha1.GroupNamespaced} {
		l := &unstructured.UnstructuredList{}
		kind := schema.GroupVersionKind{Group: group, Version: bundlev1alpha1.Version, Kind: bundlev1alpha1.Kind}
		if err := g.listObjects(ctx, l, kind, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range l.Items {
			g.addBundle(l.Items[i].GetNamespace(), prune.BundleName{Group: group, Name: l.Items[i].GetName()}, namesIn(&l.Items[i]))
		}
	}
	states := &v1alpha1.BundleStateList{}
	if err := g.live.List(ctx, states, client.InNamespace(namespace)); err != nil {
		return errors.Wrap(err, "cannot list BundleStates")
	}
	for i := range states.Items {
		p := states.Items[i].Spec.ForProvider
		names := make([]string, 0, len(p.Packages))
		for _, one := range p.Packages {
			names = append(names, one.Name)
		}
		g.addBundle(states.Items[i].GetNamespace(), prune.BundleName{Group: p.BundleRef.Group, Name: p.BundleRef.Name}, names)
	}
	return nil
}

func (g *packageGatherer) addBundle(namespace string, name prune.BundleName, packages []string) {
	g.facts.Bundles = append(g.facts.Bundles, prune.Bundle{BundleName: name, Namespace: namespace, Packages: packages})
}

// namesIn returns the names of the packages in the spec of a Bundle.
func namesIn(bundle *unstructured.Unstructured) []string {
	all, _, _ := unstructured.NestedSlice(bundle.Object, "spec", "packages")
	out := make([]string, 0, len(all))
	for _, p := range all {
		if p, ok := p.(map[string]any); ok {
			name, _ := p["name"].(string)
			out = append(out, name)
		}
	}
	return out
}

// listRecords adds the records of bundles, also those that other programs keep.
func (g *packageGatherer) listRecords(ctx context.Context, namespace string) error {
	l := &corev1.SecretList{}
	if err := g.live.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{"type": string(state.SecretType)}); err != nil {
		return errors.Wrap(err, "cannot list records")
	}
	for i := range l.Items {
		g.facts.Records = append(g.facts.Records, g.readBundleRecord(&l.Items[i]))
	}
	return nil
}

// readBundleRecord returns what the record in a Secret says.
func (g *packageGatherer) readBundleRecord(secret *corev1.Secret) prune.Record {
	out := prune.Record{BundleName: bundleOfSecret(secret.GetName()), Namespace: secret.GetNamespace()}
	s, err := state.Decode(secret)
	if err != nil {
		out.IsNewer, out.IsBroken = errors.Is(err, state.ErrNewer), true
		return out
	}
	needs := map[string][]string{}
	for _, p := range s.PkgStatuses {
		needs[p.Name] = p.DependsOn
		if p.Status != state.Removed && p.Status != state.Unreferenced {
			out.Uses = append(out.Uses, p.Name)
		}
	}
	g.needs[[2]string{out.Namespace, out.Group + "/" + out.Name}] = needs
	return out
}

// bundleOfSecret returns the Bundle whose record a Secret holds, by its name. One that another program keeps has no group.
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

// addPackage adds an object with the labels of a bundle.
func (g *packageGatherer) addPackage(u *unstructured.Unstructured, deliveries []deliveryv1alpha1.GitDelivery, marked map[string]bool) {
	labels := u.GetLabels()
	p := prune.Package{
		Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Label: labels[v1alpha1.LabelPackage],
		Bundle: prune.BundleName{Group: labels[v1alpha1.LabelBundleGroup], Name: labels[v1alpha1.LabelBundle]}, IsMade: isMadeByBundle(u),
		SpecDigest: bundlestate.DigestOf(u), Deleting: meta.WasDeleted(u), Pinned: labels[v1alpha1.LabelPrune] == v1alpha1.PruneKeep,
	}
	p.DependsOn = g.needs[[2]string{p.Namespace, p.Bundle.Group + "/" + p.Bundle.Name}][p.Name]
	if since, err := time.Parse(time.RFC3339, u.GetAnnotations()[v1alpha1.AnnotationUnreferenced]); err == nil {
		p.Since = since
	}
	for i := range deliveries {
		if d := &deliveries[i]; d.GetNamespace() == p.Namespace && d.Spec.ForProvider.ClaimRef.Name == p.Name && d.Spec.ForProvider.ClaimRef.APIGroup == bundlev1alpha1.GroupNamespaced {
			addDelivered(&p, d, marked)
		}
	}
	g.facts.Packages = append(g.facts.Packages, p)
	if owner := metav1.GetControllerOf(u); owner != nil {
		claim := claimReference{APIGroup: bundlev1alpha1.GroupNamespaced, Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}
		g.facts.Living = append(g.facts.Living, prune.Living{Kind: owner.Kind, Namespace: p.Namespace, Name: owner.Name, Claim: claim})
	}
}

// isMadeByBundle reports whether the controller of bundles wrote an object.
func isMadeByBundle(u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(u.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == bundlestate.FieldOwner })
}

// addDelivered adds what a GitDelivery delivers for a package. Files that the GitDelivery does not hold are unread.
func addDelivered(p *prune.Package, d *deliveryv1alpha1.GitDelivery, marked map[string]bool) {
	if reason := d.GetCondition(xpv2.TypeReady).Reason; reason != "" {
		p.Reason = string(reason)
	}
	for _, t := range d.Spec.ForProvider.Trees {
		files, err := tree.Decode(t.Files)
		objects := objectsOf(files)
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
