package composite

import (
	"context"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Subject is the claim of a managed resource, or its composite if that has no claim, as the API server has it now.
type Subject struct {
	// IsLiving is false if the composite or the claim is missing or being deleted, and for a managed resource without a composite.
	IsLiving bool

	// IsPaused reports whether a user has paused the composite or the claim by the annotation crossplane.io/paused.
	IsPaused bool

	// Spec that the user wrote.
	Spec map[string]any
}

// ReadSubject reads the composite and the claim of a managed resource of a kind. The reader has to read past the cache. It returns an error if one of them
// cannot be read.
func ReadSubject(ctx context.Context, live client.Reader, o client.Object, kind schema.GroupKind) (Subject, error) {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return Subject{}, nil
	}
	xr, err := findLivingOwner(ctx, live, o, kind, ref)
	if xr == nil || err != nil {
		return Subject{}, err
	}
	author := xr
	if claim := claimReferenceOf(xr); claim != nil {
		author = claim
		if going, err := isDeletedOrGone(ctx, live, claim); going || err != nil {
			return Subject{}, err
		}
	}
	spec, _, err := unstructured.NestedMap(author.Object, "spec")
	return Subject{IsLiving: true, IsPaused: xpmeta.IsPaused(xr) || xpmeta.IsPaused(author), Spec: spec}, err
}
