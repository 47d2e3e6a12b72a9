package schema

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/intentplane/intentplane/apis/boundedyaml"
)

// definition has the fields of a CustomResourceDefinition that are read.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []version `json:"versions"`
	} `json:"spec"`
}

type version struct {
	Name   string `json:"name"`
	Schema struct {
		OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"` //nolint:tagliatelle // Kubernetes calls it so.
	} `json:"schema"`
}

// Definitions returns the schemas of custom resources, from CustomResourceDefinitions in YAML or JSON. It returns an error for
// a definition without group, kind or scope, for a definition of a kind of Kubernetes' own, and for a schema that cannot be
// decoded or has references.
func Definitions(documents ...[]byte) (*Set, error) {
	s := &Set{kinds: map[schema.GroupVersionKind]*spec.Schema{}, scopes: map[schema.GroupKind]bool{}}
	for _, document := range documents {
		d := definition{}
		if err := boundedyaml.Unmarshal(document, &d); err != nil {
			return nil, errors.Wrap(err, "cannot decode CustomResourceDefinition")
		}
		if err := s.addDefinition(d); err != nil {
			return nil, errors.Wrapf(err, "CustomResourceDefinition of %s.%s", d.Spec.Names.Kind, d.Spec.Group)
		}
	}
	return s, nil
}

func (s *Set) addDefinition(d definition) error {
	gk := schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
	if gk.Group == "" || gk.Kind == "" || (d.Spec.Scope != "Cluster" && d.Spec.Scope != "Namespaced") {
		return errors.New("spec.group, spec.names.kind and spec.scope must be set")
	}
	k, err := kubernetes()
	if err != nil {
		return err
	}
	s.scopes[gk] = d.Spec.Scope == "Namespaced"
	for _, v := range d.Spec.Versions {
		gvk := gk.WithVersion(v.Name)
		if k.set.kinds[gvk] != nil {
			return errors.New("is a kind of Kubernetes' own")
		}
		if len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		if s.kinds[gvk], err = customSchema(v.Schema.OpenAPIV3Schema, k.meta); err != nil {
			return errors.Wrapf(err, "version %s", v.Name)
		}
	}
	return nil
}

// customSchema closes the schema of a custom resource. Every object has the fields that all objects have.
func customSchema(raw json.RawMessage, meta spec.Schema) (*spec.Schema, error) {
	s := spec.Schema{}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, errors.Wrap(err, "cannot decode openAPIV3Schema")
	}
	if containsReference(raw) {
		return nil, errors.New("openAPIV3Schema: $ref is not allowed")
	}
	s = closer{}.closeSchema(s)
	text := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}}
	if s.Properties == nil {
		return &s, nil
	}
	s.Properties["apiVersion"], s.Properties["kind"], s.Properties["metadata"] = text, text, meta
	return &s, nil
}

// containsReference reports whether any field of a schema is a reference, which could be endless.
func containsReference(raw json.RawMessage) bool {
	var v any
	return json.Unmarshal(raw, &v) != nil || hasReference(v)
}

func hasReference(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if _, ok := value.(string); ok && name == "$ref" || hasReference(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasReference)
	}
	return false
}
