package admission

import (
	"embed"
	"io/fs"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/composition"
	providerpackage "github.com/intentplane/intentplane/package/provider"
)

// readDefinitions returns all of our definitions: the provider's, and the definitions that Crossplane makes of our definitions of composites.
func readDefinitions() ([]*extv1.CustomResourceDefinition, error) {
	out, err := decodeDefinitions[extv1.CustomResourceDefinition](providerpackage.CRDs())
	if err != nil {
		return nil, err
	}
	composites, err := decodeDefinitions[xpextv1.CompositeResourceDefinition](composition.Definitions())
	if err != nil {
		return nil, err
	}
	for _, d := range composites {
		generated, err := ofComposite(d)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot derive the definition of %s", d.GetName())
		}
		out = append(out, generated...)
	}
	return out, nil
}

// decodeDefinitions decodes each file.
func decodeDefinitions[T any](files embed.FS) ([]*T, error) {
	out := []*T{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		definition := new(T)
		out = append(out, definition)
		return errors.Wrapf(yaml.Unmarshal(b, definition), "cannot decode %s", name)
	})
	return out, err
}

// ofComposite returns the definitions that Crossplane makes of a definition: one for the composite, and one for the claim if it offers claims.
func ofComposite(d *xpextv1.CompositeResourceDefinition) ([]*extv1.CustomResourceDefinition, error) {
	composite, err := xcrd.ForCompositeResource(d)
	if err != nil || !d.OffersClaim() {
		return []*extv1.CustomResourceDefinition{composite}, err
	}
	claim, err := xcrd.ForCompositeResourceClaim(d)
	return []*extv1.CustomResourceDefinition{composite, claim}, err
}

// A kind has the checks for objects of one kind.
type kind struct {
	namespaced bool
	structure  *structuralschema.Structural
	schema     schemavalidation.SchemaValidator

	// rules returns the compiled rules, or nil if the kind has none. Compiling the rules of all kinds takes half a second, and a user checks
	// objects of a few.
	rules func() *cel.Validator
}

// compileKinds returns the checks of a definition, by version.
func compileKinds(d *extv1.CustomResourceDefinition) (map[schema.GroupVersionKind]kind, error) {
	extv1.SetDefaults_CustomResourceDefinition(d)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&d.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d, internal, nil); err != nil {
		return nil, err
	}
	out := map[schema.GroupVersionKind]kind{}
	for _, v := range internal.Spec.Versions {
		props := v.Schema
		// A schema that all versions share was moved up.
		if props == nil {
			props = internal.Spec.Validation
		}
		if props == nil || props.OpenAPIV3Schema == nil {
			return nil, errors.Errorf("version %s has no schema", v.Name)
		}
		k, err := compileKind(props.OpenAPIV3Schema)
		if err != nil {
			return nil, err
		}
		k.namespaced = d.Spec.Scope == extv1.NamespaceScoped
		out[schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind}] = k
	}
	return out, nil
}

func compileKind(s *apiextensions.JSONSchemaProps) (kind, error) {
	structure, err := structuralschema.NewStructural(s)
	if err != nil {
		return kind{}, err
	}
	v, _, err := schemavalidation.NewSchemaValidator(s)
	rules := sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structure, true, celconfig.PerCallLimit) })
	return kind{structure: structure, schema: v, rules: rules}, err
}
