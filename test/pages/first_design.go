package pages

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/composition"
	providerpackage "github.com/intentplane/intentplane/package/provider"
)

// schemasByKind returns the OpenAPI schema of each of our kinds, decoded without types.
func schemasByKind(t *testing.T) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, files := range []fs.FS{composition.Definitions(), providerpackage.CRDs()} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			definition := struct {
				Spec struct {
					Names struct {
						Kind string `json:"kind"`
					} `json:"names"`
					Versions []struct {
						Schema struct {
							OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"` //nolint:tagliatelle // Kubernetes spells it so.
						} `json:"schema"`
					} `json:"versions"`
				} `json:"spec"`
			}{}
			if err := yaml.Unmarshal(b, &definition); err != nil {
				return err
			}
			for _, v := range definition.Spec.Versions {
				out[definition.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// hasSchemaField reports whether a schema has a field, such as spec.metrics[].name.
func hasSchemaField(schema map[string]any, path string) bool {
	if path == "status.conditions" {
		return true // Crossplane adds them to the status of a composite.
	}
	for name := range strings.SplitSeq(path, ".") {
		field, isList := strings.CutSuffix(name, "[]")
		properties, _ := schema["properties"].(map[string]any)
		next, found := properties[field].(map[string]any)
		if !found {
			return false
		}
		if schema = next; isList {
			schema, _ = next["items"].(map[string]any)
		}
	}
	return true
}

// fieldName is how a page names a field, with its kind unless that is IntentDeployment.
var fieldName = regexp.MustCompile("`(?:([A-Z][A-Za-z]+) )?((?:spec|status)\\.[A-Za-z0-9.\\[\\]]+)`")
