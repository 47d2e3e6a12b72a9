package render

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrderNeverMatters changes the style and the order of fields in YAML, and the order of a map, which have no meaning.
func TestOrderNeverMatters(t *testing.T) {
	styles := map[string]map[string]string{
		"Block": {
			"kustomization.yaml": "resources:\n- intent.yaml\n- a.yaml\nlabels:\n- pairs:\n    x: v\n    z: w\n",
			"a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    b: c\n    d: e\ndata:\n  x: one\n  y: \"2\"\n",
		},
		"Flow": {
			"a.yaml":             "{data: {y: '2', x: one}, metadata: {annotations: {d: e, b: c}, name: a}, kind: ConfigMap, apiVersion: v1}",
			"kustomization.yaml": "{labels: [{pairs: {z: w, x: v}}], resources: [intent.yaml, a.yaml]}",
		},
		"JSON": {
			"kustomization.yaml": `{"resources": ["intent.yaml", "a.yaml"], "labels": [{"pairs": {"x": "v", "z": "w"}}]}`,
			"a.yaml":             `{"kind": "ConfigMap", "apiVersion": "v1", "data": {"x": "one", "y": "2"}, "metadata": {"name": "a", "annotations": {"b": "c", "d": "e"}}}`,
		},
	}
	r := NewRenderer()
	want := ""
	for _, style := range slices.Sorted(maps.Keys(styles)) {
		for range 20 {
			files, err := r.Build(t.Context(), filesInput(maps.Clone(styles[style])))
			if err != nil {
				t.Fatalf("%s: Build(...): %v", style, err)
			}
			got := fmt.Sprint(texts(files))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s: Build(...): want\n%s\ngot\n%s", style, want, got)
			}
		}
	}
}

func TestBuildNothing(t *testing.T) {
	_, err := NewRenderer().Build(t.Context(), Input{})
	if diff := cmp.Diff(`cannot render Blueprint "": the Blueprint is missing`, message(err)); diff != "" {
		t.Errorf("Build(...) without a Blueprint: -want error, +got error:\n%s", diff)
	}
}
