// Package composite decides the fate of the external resources of a deleted managed resource: they stay while the composite that composed it
// lives, since Crossplane then composes the managed resource again.
package composite

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
)

// A SupersededError reports a deleted managed resource that the composite still retains, and would not compose again.
type SupersededError struct {
	// Composite that decides when the managed resource may go.
	Composite string
}

// Error names the composite, and the event that ends the wait.
func (e *SupersededError) Error() string {
	return "nothing is removed yet: another repository takes the place of this one, and " + e.Composite + " has not proven its revision there. The deletion goes on by itself when it has"
}

// Retains reports whether the external resources of a deleted managed resource of a kind have to stay, because the composite composes it
// again. It is false where
//
//   - no composite controls the managed resource,
//   - the composite, its claim or the namespace is gone or being deleted,
//   - Crossplane itself deletes the managed resource, since the composite no longer composes it. Before such a deletion, and only
//     then, Crossplane takes the label crossplane.io/composite away (GarbageCollectComposedResources of Crossplane 2.4).
//
// It returns a *SupersededError if the composite retains the managed resource only until its replacement is ready, and any other error where an object cannot
// be read: nothing may be removed then. The reader has to read past the cache: an old answer would be the wrong one.
func Retains(ctx context.Context, live client.Reader, o client.Object, kind schema.GroupKind) (bool, error) {
	ref := metav1.GetControllerOf(o)
	if ref == nil || o.GetLabels()[xcrd.LabelKeyNamePrefixForComposed] == "" {
		return false, nil
	}
	xr, err := findLivingOwner(ctx, live, o, kind, ref)
	if xr == nil || err != nil {
		return false, errors.Wrap(err, unknownLife)
	}
	for _, holder := range []*unstructured.Unstructured{claimReferenceOf(xr), namespaceReferenceOf(o)} {
		if going, err := isDeletedOrGone(ctx, live, holder); going || err != nil {
			return false, errors.Wrap(err, unknownLife)
		}
	}
	if o.GetAnnotations()[v1alpha1.AnnotationSuperseded] != "" {
		return false, &SupersededError{Composite: describeObject(xr)}
	}
	return true, nil
}

// unknownLife begins the error of a deletion that waits for an answer.
const unknownLife = "nothing is removed before it is known whether the composite lives"

// findLivingOwner returns the composite that a reference names, or nil if it is deleted or being deleted.
func findLivingOwner(ctx context.Context, live client.Reader, o client.Object, kind schema.GroupKind, ref *metav1.OwnerReference) (*unstructured.Unstructured, error) {
	xr := newReference(ref.APIVersion, ref.Kind, o.GetNamespace(), ref.Name)
	if going, err := isDeletedOrGone(ctx, live, xr); going || err != nil {
		return nil, err
	}
	// A composite that was restored from a backup has another UID, and still names its composed resources. A new composite of the same name
	// does not.
	if xr.GetUID() != ref.UID && !listsComposedObject(xr, o, kind) {
		return nil, nil //nolint:nilnil // The object has no owner.
	}
	return xr, nil
}

// isDeletedOrGone reads an object, and reports whether it is missing or being deleted. It is false for nil.
func isDeletedOrGone(ctx context.Context, live client.Reader, u *unstructured.Unstructured) (bool, error) {
	if u == nil {
		return false, nil
	}
	name, key, kind := describeObject(u), client.ObjectKeyFromObject(u), u.GroupVersionKind().GroupKind()
	// The client leaves the namespace out of requests for kinds that have none.
	err := live.Get(ctx, key, u)
	if isConfirmedNotFound(err, key.Name) {
		return true, nil
	}
	if meta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		isUndefined, failure := isKindUndefined(ctx, live, kind)
		if isUndefined {
			return true, nil
		}
		if failure != nil {
			err = failure
		}
	}
	return u.GetDeletionTimestamp() != nil, errors.Wrapf(err, "cannot get %s", name)
}

// isConfirmedNotFound reports whether an error of the API server names a missing object. A 404 without the name proves nothing: a proxy returns it, and an API
// server that does not serve the version.
func isConfirmedNotFound(err error, name string) bool {
	var status kerrors.APIStatus
	if !kerrors.IsNotFound(err) || kerrors.IsUnexpectedServerError(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name
}

// isKindUndefined reports whether no CustomResourceDefinition defines a kind, so that none of its objects is left. A kind of the API server itself is
// always defined.
func isKindUndefined(ctx context.Context, live client.Reader, kind schema.GroupKind) (bool, error) {
	if !strings.Contains(kind.Group, ".") {
		return false, nil
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
	isDefined, defines := false, func(definition unstructured.Unstructured) bool {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		defined, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		return group == kind.Group && defined == kind.Kind
	}
	err := listing.EachPage(ctx, live, all, func() { isDefined = isDefined || slices.ContainsFunc(all.Items, defines) })
	return err == nil && !isDefined, errors.Wrap(err, "cannot list CustomResourceDefinitions")
}

// listsComposedObject reports whether a composite lists an object of a kind among its composed resources. The list is in spec.crossplane of
// composites of Crossplane 2, and in spec of composites with a claim.
func listsComposedObject(xr *unstructured.Unstructured, o client.Object, kind schema.GroupKind) bool {
	for _, path := range [][]string{{"spec", "crossplane", "resourceRefs"}, {"spec", "resourceRefs"}} {
		refs, _, _ := unstructured.NestedSlice(xr.Object, path...)
		for _, r := range refs {
			ref, _ := r.(map[string]any)
			apiVersion, _ := ref["apiVersion"].(string)
			if ref["name"] == o.GetName() && ref["kind"] == kind.Kind && schema.FromAPIVersionAndKind(apiVersion, "").Group == kind.Group {
				return true
			}
		}
	}
	return false
}

// claimReferenceOf returns the claim of a composite, not read yet, or nil if it has none. A composite in a namespace has none: a user writes
// its spec, which is not trusted.
func claimReferenceOf(xr *unstructured.Unstructured) *unstructured.Unstructured {
	ref, ok, _ := unstructured.NestedStringMap(xr.Object, "spec", "claimRef")
	if !ok || xr.GetNamespace() != "" {
		return nil
	}
	return newReference(ref["apiVersion"], ref["kind"], ref["namespace"], ref["name"])
}

// namespaceReferenceOf returns the namespace of an object, not read yet, or nil if it has none. Its content goes in no order.
func namespaceReferenceOf(o client.Object) *unstructured.Unstructured {
	if o.GetNamespace() == "" {
		return nil
	}
	return newReference("v1", "Namespace", "", o.GetNamespace())
}

func newReference(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func describeObject(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + u.GetName()
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}
