package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/expansion"
)

// TestSubstituteTransformer annotates each object, and no pod, so that Flux replaces nothing.
func TestSubstituteTransformer(t *testing.T) {
	in := exampleInput(t, `{"service": "shop", "sites": ["edge1"], "replicas": 2, "parameters": {"greeting": "${TOKEN}"}}`, Site{Name: "edge1"})
	plain, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Site.Expansion = expansion.ModeDisabled
	files, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if name == kustomizationFile {
			continue
		}
		stripped := strings.Replace(string(content), "  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n", "", 1)
		if diff := cmp.Diff(string(plain[name]), stripped); diff != "" || stripped == string(content) {
			t.Errorf("%s: without the annotation: -want, +got:\n%s", name, diff)
		}
	}
}
