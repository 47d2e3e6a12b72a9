package evaluators_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis/fields"
)

// A schema is a part of a definition.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// readSchema returns the schema of a kind in a file of a module.
func readSchema(t *testing.T, module, file, kind string) schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range bytes.Split(text, []byte("\n---\n")) {
		definition := struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema schema `json:"openAPIV3Schema"`
					}
				}
			}
		}{}
		if err := yaml.Unmarshal(d, &definition); err != nil {
			t.Fatal(err)
		}
		if definition.Spec.Names.Kind == kind {
			return definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		}
	}
	t.Fatalf("%s has no definition of %s", file, kind)
	return schema{}
}

// A schemaWalk compares a schema with a table.
type schemaWalk struct {
	table   map[string]fields.Field
	visited map[string]bool
	missing []string
}

// visit visits the fields below a path. The treatment of a field that is not converted holds for all fields below it.
func (w *schemaWalk) visit(path string, s schema) {
	if s.Items != nil {
		path, s = path+"[]", *s.Items
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		w.visitField(path+"."+name, s.Properties[name])
	}
}

func (w *schemaWalk) visitField(path string, s schema) {
	f, ok := w.table[path]
	if !ok {
		w.missing = append(w.missing, path)
		return
	}
	w.visited[path] = true
	if f.Treatment == fields.Converted {
		w.visit(path, s)
	}
}

// TestSchemas compares the definitions of Argo Rollouts and Flagger with the tables by which fields are converted: each field has an entry, and each entry is a field.
func TestSchemas(t *testing.T) {
	const argoModule, flaggerModule = "github.com/argoproj/argo-rollouts", "github.com/fluxcd/flagger"
	for _, tc := range []struct {
		module, file, kind, root string
		table                    []fields.Field
	}{
		{argoModule, "manifests/crds/analysis-template-crd.yaml", "AnalysisTemplate", "spec", fields.AnalysisTemplate()},
		{argoModule, "manifests/crds/cluster-analysis-template-crd.yaml", "ClusterAnalysisTemplate", "spec", fields.AnalysisTemplate()},
		{flaggerModule, "artifacts/flagger/crd.yaml", "MetricTemplate", "spec", fields.MetricTemplate()},
		{flaggerModule, "artifacts/flagger/crd.yaml", "Canary", "spec", fields.Canary()},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			w := &schemaWalk{table: map[string]fields.Field{}, visited: map[string]bool{}}
			for _, f := range tc.table {
				w.table[f.Path] = f
			}
			root := readSchema(t, tc.module, tc.file, tc.kind)
			for _, name := range strings.Split(tc.root, ".") {
				root = root.Properties[name]
			}
			w.visitField(tc.root, root)
			for _, path := range w.missing {
				t.Errorf("%s has no entry: say whether it is converted, refused, noted or without meaning", path)
			}
			for path := range w.table {
				if !w.visited[path] {
					t.Errorf("%s has an entry, and no such field is in the definition", path)
				}
			}
		})
	}
}
