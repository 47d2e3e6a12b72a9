package controlplane

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

// TestRemoveEngine compares the Sites of the quickstart without their engine with the Sites for a cluster without an engine.
func TestRemoveEngine(t *testing.T) {
	sites := map[string][]*unstructured.Unstructured{}
	for _, folder := range []string{"quickstart", "trial"} {
		b, err := os.ReadFile("../../examples/" + folder + "/10-sites.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if sites[folder], err = kubernetes.ParseYAML(b); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range sites["quickstart"] {
		if kind, _, _ := unstructured.NestedString(u.Object, "spec", "engine", "type"); kind == "" || kind == "None" {
			t.Errorf("Site %s of the quickstart has no engine", u.GetName())
		}
		if err := RemoveEngine(u); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(sites["trial"], sites["quickstart"]); diff != "" {
		t.Errorf("The Sites of examples/trial are those of the quickstart without an engine: -trial, +quickstart:\n%s", diff)
	}
	for reason, object := range map[string]map[string]any{
		"An object without an engine is left as it is.": {"kind": "Blueprint", "spec": "none"},
		"A Site without a spec gets one.":               {"kind": "Site"},
	} {
		if err := RemoveEngine(&unstructured.Unstructured{Object: object}); err != nil {
			t.Errorf("\n%s\nRemoveEngine(...): %v", reason, err)
		}
	}
	if err := RemoveEngine(&unstructured.Unstructured{Object: map[string]any{"kind": "Site", "spec": "none"}}); err == nil {
		t.Error("A Site whose spec is a text is refused.")
	}
}
