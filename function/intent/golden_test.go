package intent

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A saying is a text, and what it has to be understood as or why it has to be refused.
type saying struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	Canonical string `json:"canonical,omitempty"`
	Error     string `json:"error,omitempty"`
}

func golden(tb testing.TB) []saying {
	tb.Helper()
	b, err := os.ReadFile("testdata/golden.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var out []saying
	if err := yaml.UnmarshalStrict(b, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range golden(t) {
		t.Run(s.Name, func(t *testing.T) {
			if seen[s.Name] || (s.Canonical == "") == (s.Error == "") {
				t.Fatalf("%s must be there once, with canonical or with error", s.Name)
			}
			seen[s.Name] = true
			got, err := FromText(s.Text)
			if diff := cmp.Diff(s.Error, message(err)); diff != "" {
				t.Fatalf("FromText(...): -want error, +got error:\n%s", diff)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(s.Canonical, string(got.Canonical())); diff != "" {
				t.Errorf("Canonical(): -want, +got:\n%s", diff)
			}
			again, err := FromText(s.Canonical)
			if err != nil {
				t.Fatalf("FromText(Canonical()): %v", err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("FromText(Canonical()): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestGoldenSize(t *testing.T) {
	all := golden(t)
	refused := len(slices.DeleteFunc(slices.Clone(all), func(s saying) bool { return s.Error == "" }))
	if len(all) < 60 || refused*2 < len(all) || len(all)-refused < 30 {
		t.Errorf("there must be at least 60 sayings, 30 of them understood and half of them refused, not %d, %d and %d", len(all), len(all)-refused, refused)
	}
}
