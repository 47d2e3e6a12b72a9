package composition

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"sigs.k8s.io/yaml"
)

// TestFieldNamesSurviveYAML reads each field name of each schema as the key of a YAML mapping. YAML 1.1 takes words such as on, yes and n for
// booleans, and a field with such a name cannot be written without quotes.
func TestFieldNamesSurviveYAML(t *testing.T) {
	for name, crd := range crds(t) {
		for path, field := range fieldNames(crd.Spec.Validation, crd.Spec.Versions) {
			got := map[string]any{}
			if err := yaml.Unmarshal([]byte(field+": value"), &got); err != nil {
				t.Fatalf("%s: %s: %v", name, path, err)
			}
			if _, ok := got[field]; !ok {
				t.Errorf("%s: %s: YAML reads the key %q as %q", name, path, field, slices.Collect(maps.Keys(got)))
			}
		}
	}
}

// fieldNames returns the names of all fields of a CRD, by their paths.
func fieldNames(shared *apiextensions.CustomResourceValidation, versions []apiextensions.CustomResourceDefinitionVersion) map[string]string {
	out := map[string]string{}
	if shared != nil {
		addFieldNames(out, "", shared.OpenAPIV3Schema)
	}
	for _, v := range versions {
		if v.Schema != nil {
			addFieldNames(out, v.Name, v.Schema.OpenAPIV3Schema)
		}
	}
	return out
}

func addFieldNames(out map[string]string, path string, s *apiextensions.JSONSchemaProps) {
	if s == nil {
		return
	}
	for name := range s.Properties {
		under := s.Properties[name]
		out[path+"."+name] = name
		addFieldNames(out, path+"."+name, &under)
	}
	if s.Items != nil {
		addFieldNames(out, path+"[]", s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		addFieldNames(out, path+"{}", s.AdditionalProperties.Schema)
	}
}
