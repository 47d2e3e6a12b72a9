package schema

import (
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A closer makes schemas strict: they refuse fields that they do not name. It replaces references by the definitions that they name, each
// of which is made once and shared.
type closer struct {
	definitions map[string]spec.Schema
	done        map[string]*spec.Schema
}

// closedDefinition returns a closed definition. Where one refers to itself it takes anything.
func (c closer) closedDefinition(name string) *spec.Schema {
	if s, ok := c.done[name]; ok {
		return s
	}
	c.done[name] = &spec.Schema{}
	s := c.closeSchema(c.definitions[name])
	// A quantity may be written as a number too.
	if strings.HasSuffix(name, ".resource.Quantity") {
		s.Type = spec.StringOrArray{"string", "number", "integer"}
	}
	c.done[name] = &s
	return &s
}

// closeSchema returns a closed copy of a schema.
func (c closer) closeSchema(s spec.Schema) spec.Schema {
	if ref := s.Ref.String(); ref != "" {
		return *c.closedDefinition(strings.TrimPrefix(ref, "#/definitions/"))
	}
	// An API server takes null for absent.
	s.Nullable = true
	// Comparing all items with each other takes too long for long lists.
	s.UniqueItems = false
	if s.Format == "int-or-string" || hasExtension(s, "x-kubernetes-int-or-string") {
		s.Type, s.Format = spec.StringOrArray{"integer", "string"}, ""
	}
	s.Properties = c.closeProperties(s.Properties)
	if s.Items != nil && s.Items.Schema != nil {
		items := c.closeSchema(*s.Items.Schema)
		s.Items = &spec.SchemaOrArray{Schema: &items}
	}
	s.AdditionalProperties = c.closeAdditional(s)
	return s
}

func (c closer) closeProperties(properties map[string]spec.Schema) map[string]spec.Schema {
	if properties == nil {
		return nil
	}
	out := make(map[string]spec.Schema, len(properties))
	for name, s := range properties {
		out[name] = c.closeSchema(s)
	}
	return out
}

func (c closer) closeAdditional(s spec.Schema) *spec.SchemaOrBool {
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		values := c.closeSchema(*s.AdditionalProperties.Schema)
		return &spec.SchemaOrBool{Allows: true, Schema: &values}
	}
	open := hasExtension(s, "x-kubernetes-preserve-unknown-fields") || hasExtension(s, "x-kubernetes-embedded-resource")
	if s.AdditionalProperties == nil && len(s.Properties) > 0 && !open {
		return &spec.SchemaOrBool{Allows: false}
	}
	return s.AdditionalProperties
}

func hasExtension(s spec.Schema, name string) bool {
	isSet, _ := s.Extensions.GetBool(name)
	return isSet
}
