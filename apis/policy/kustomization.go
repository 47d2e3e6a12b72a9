package policy

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// Kustomization is all that the kustomization.yaml of a delivered directory may say: an engine that builds it must get the
// objects which were checked, and nothing from elsewhere.
type Kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
}

// checkKustomization returns an error unless the directory's kustomization.yaml lists just its other files.
func checkKustomization(in Input) error {
	b, ok := in.Files[kustomizationRef]
	if in.Layout == catalogv1alpha1.LayoutManifests {
		return nil
	}
	if !ok {
		return errors.Errorf("Site %q: %s is missing", in.Site.GetName(), kustomizationRef)
	}
	k := Kustomization{}
	if err := decodeSingleDocument(b, &k); err != nil {
		return errors.Wrapf(err, "Site %q: %s may only hold apiVersion, kind and resources", in.Site.GetName(), kustomizationRef)
	}
	want := maps.Clone(in.Files)
	delete(want, kustomizationRef)
	if got := slices.Sorted(slices.Values(k.Resources)); !slices.Equal(got, want.Names()) {
		return errors.Errorf("Site %q: resources of %s must be the directory's other files, each once", in.Site.GetName(), kustomizationRef)
	}
	return nil
}
