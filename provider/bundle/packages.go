package bundle

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// FieldOwner is the field manager of the provider's changes to the objects of packages.
const FieldOwner = "intentplane-bundlestate"

// PackageKinds returns the kinds that packages are made of.
func PackageKinds() []schema.GroupVersionKind {
	group := schema.GroupVersion{Group: deploymentv1alpha1.GroupNamespaced, Version: deploymentv1alpha1.Version}
	return []schema.GroupVersionKind{group.WithKind(deploymentv1alpha1.Kind), group.WithKind(applicationv1alpha1.Kind)}
}

// Kinds returns the kinds of Bundles that users write.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: bundlev1alpha1.GroupClaims, Version: bundlev1alpha1.Version, Kind: bundlev1alpha1.Kind},
		{Group: bundlev1alpha1.GroupNamespaced, Version: bundlev1alpha1.Version, Kind: bundlev1alpha1.Kind},
	}
}

// PackagesIn returns the packages in the spec of a Bundle.
func PackagesIn(b *unstructured.Unstructured) []map[string]any {
	all, _, _ := unstructured.NestedSlice(b.Object, "spec", "packages")
	out := make([]map[string]any, 0, len(all))
	for _, p := range all {
		if p, ok := p.(map[string]any); ok {
			out = append(out, p)
		}
	}
	return out
}

// SortByLayer returns packages so that each is behind its dependencies.
func SortByLayer(all []v1alpha1.BundlePackage) []*v1alpha1.BundlePackage {
	out := make([]*v1alpha1.BundlePackage, 0, len(all))
	for i := range all {
		out = append(out, &all[i])
	}
	slices.SortStableFunc(out, func(a, b *v1alpha1.BundlePackage) int { return cmp.Compare(a.Layer, b.Layer) })
	return out
}
