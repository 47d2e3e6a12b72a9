package bundle

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// TestCheckPackages takes the packages of an example, and refuses a name that no object can have.
func TestCheckPackages(t *testing.T) {
	text, err := os.ReadFile("../../examples/bundles/ordered.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.Bundle{}
	if err := yaml.Unmarshal(text, b); err != nil {
		t.Fatal(err)
	}
	all, err := Check("team-a", b.GetName(), b.Spec)
	if err != nil || len(all) != len(b.Spec.Packages) {
		t.Errorf("Check(...): %d packages, %v, want %d", len(all), err, len(b.Spec.Packages))
	}
	if _, err := Check("team-a", "a.b", b.Spec); err == nil {
		t.Error("Check(...): a name with a dot is accepted")
	}
}
