package support

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// TestFieldsWithoutEffect compares the list of fields that are reported as unsupported with the sources: it names every field of a
// configuration that no source of the function or the provider selects, and no other.
func TestFieldsWithoutEffect(t *testing.T) {
	selected := selectedNames(t, "../../function", "../../provider", "../../apis/policy")
	got := unselectedFields(reflect.TypeFor[configv1alpha1.ProviderConfigSpec](), selected, "")
	if diff := cmp.Diff(configFields(), got); diff != "" {
		t.Errorf("fields of a configuration without effect: -want (reported), +got (not selected by any source):\n%s", diff)
	}
}

// unselectedFields returns the JSON paths of the fields of a struct that no source selects, without those below them, sorted.
func unselectedFields(s reflect.Type, selected map[string]bool, prefix string) []string {
	var out []string
	for f := range s.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !selected[f.Name] {
			out = append(out, prefix+name)
			continue
		}
		under := f.Type
		for under.Kind() == reflect.Pointer || under.Kind() == reflect.Slice {
			under = under.Elem()
		}
		if under.Kind() == reflect.Struct {
			out = append(out, unselectedFields(under, selected, prefix+name+".")...)
		}
	}
	slices.Sort(out)
	return out
}

// selectedNames returns every name that a source below some directories selects (x.Name), tests and generated files apart.
func selectedNames(t *testing.T, dirs ...string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					out[s.Sel.Name] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
