package render

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/test/shuffle"
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

// TestStyleChangesNothing writes the files of each example's Blueprint again: as JSON with the fields of each object in some order, and
// as plain YAML. The same objects have to come from it, byte by byte.
func TestStyleChangesNothing(t *testing.T) {
	files, err := filepath.Glob("../../examples/blueprints/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("there are %d Blueprints: %v", len(files), err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b := blueprintIn(t, file)
			i, err := intent.FromText(b.Spec.Examples[0].Intent)
			if err != nil {
				t.Fatal(err)
			}
			in := Input{Blueprint: b, Intent: i, Site: Site{Name: "edge1", Parameters: map[string]string{"plmn": "00101"}}, Claim: Claim{Namespace: "team-a", Name: "shop"}}
			if b.Spec.Canary != nil {
				in.Track = track.Blue
			}
			want, err := NewRenderer().Build(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for round := range 10 {
				in.Blueprint = restyled(t, b, random)
				got, err := NewRenderer().Build(t.Context(), in)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Fatalf("Build(...) in style %d: %v: -want, +got:\n%s", round, err, diff)
				}
			}
		})
	}
}

func blueprintIn(t *testing.T, file string) *catalogv1alpha1.Blueprint {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &catalogv1alpha1.Blueprint{}
	if err := yaml.UnmarshalStrict(text, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// restyled is a Blueprint with each file written in some way.
func restyled(t *testing.T, b *catalogv1alpha1.Blueprint, random *rand.Rand) *catalogv1alpha1.Blueprint {
	t.Helper()
	out := b.DeepCopy()
	for _, name := range slices.Sorted(maps.Keys(out.Spec.Files)) {
		documents := []string{}
		for document := range strings.SplitSeq(string(out.Spec.Files[name]), "\n---\n") {
			var value any
			if err := yaml.Unmarshal([]byte(document), &value); err != nil {
				t.Fatal(err)
			}
			text := shuffle.WriteJSON(t, value, random)
			if random.IntN(2) == 0 {
				text = shuffle.Marshal(t, yaml.Marshal, value)
			}
			documents = append(documents, text)
		}
		out.Spec.Files[name] = catalogv1alpha1.File(strings.Join(documents, "\n---\n"))
	}
	return out
}

func TestBuildNothing(t *testing.T) {
	_, err := NewRenderer().Build(t.Context(), Input{})
	if diff := cmp.Diff(`cannot render Blueprint "": the Blueprint is missing`, message(err)); diff != "" {
		t.Errorf("Build(...) without a Blueprint: -want error, +got error:\n%s", diff)
	}
}
