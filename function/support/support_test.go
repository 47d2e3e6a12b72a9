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

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

func TestSelection(t *testing.T) {
	place := func(name string) catalog.Place {
		p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: "ClusterProviderConfig", Name: "default"}}
		p.Site.SetName(name)
		p.Site.Spec.Engine.Type = catalogv1alpha1.EngineNone
		p.Config.Git.DivergencePolicy, p.Config.Git.State.Form = "Stop", configv1alpha1.StateProbe
		return p
	}
	cases := map[string]struct {
		reason string
		change func(*catalog.Selection)
		want   []string
	}{
		"Plain": {reason: "A Site without an engine is supported.", change: func(*catalog.Selection) {}},
		"Engine": {
			reason: "A Site with an engine has no field without effect.",
			change: func(s *catalog.Selection) { s.Places[1].Site.Spec.Engine.Type = catalogv1alpha1.EngineFlux },
		},
		"Cluster": {
			reason: "Clusters that are made are waited for.", change: func(s *catalog.Selection) {
				s.Places[1].Site.Spec.Cluster.ClusterRef = &catalogv1alpha1.ObjectReference{Name: "c"}
			},
		},
		"Config": {
			reason: "Each field of a configuration has an effect.",
			change: func(s *catalog.Selection) {
				for i := range s.Places {
					s.Places[i].Config.Git.DivergencePolicy = configv1alpha1.DivergenceReapply
					s.Places[i].Config.Policy.WebCheckHosts = []string{"example.org"}
					s.Places[i].Config.Notifications = []configv1alpha1.Notification{{URL: "https://example.org"}}
				}
			},
		},
		"StateForm": {
			reason: "Every form of the state works.",
			change: func(s *catalog.Selection) { s.Places[0].Config.Git.State.Form = configv1alpha1.StateBranch },
		},
		"Blueprint": {
			reason: "Metrics are measured, and irreversible kinds need a request.",
			change: func(s *catalog.Selection) {
				s.Blueprint.Spec.Metrics = []catalogv1alpha1.BlueprintMetric{{Name: "a"}}
				s.Blueprint.Spec.Irreversible = []catalogv1alpha1.IrreversibleKind{{Kind: "PersistentVolumeClaim"}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &catalog.Selection{Places: []catalog.Place{place("a"), place("b")}}
			s.Blueprint.SetName("web-1.0.0")
			tc.change(s)
			got, err := Selection(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, equateEmpty()); diff != "" {
				t.Errorf("\n%s\nSelection(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSetFieldsOfSpec(t *testing.T) {
	spec := configv1alpha1.ProviderConfigSpec{ControlPlane: "fleet", Notifications: []configv1alpha1.Notification{{URL: "https://example.org"}}}
	got, err := setFieldsOfSpec(spec, []string{"notifications", "metrics", "git.url"}, "ClusterProviderConfig default: spec.")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ClusterProviderConfig default: spec.notifications", "ClusterProviderConfig default: spec.git.url"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("setFieldsOfSpec(...): the fields that are set are named: -want, +got:\n%s", diff)
	}
}

// equateEmpty makes an empty list and an absent one the same.
func equateEmpty() cmp.Option {
	return cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
}

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
		fieldType := f.Type
		for fieldType.Kind() == reflect.Pointer || fieldType.Kind() == reflect.Slice {
			fieldType = fieldType.Elem()
		}
		if fieldType.Kind() == reflect.Struct {
			out = append(out, unselectedFields(fieldType, selected, prefix+name+".")...)
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
