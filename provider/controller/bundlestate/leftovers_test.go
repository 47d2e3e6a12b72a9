package bundlestate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/prune"
)

func TestBundleOfSecret(t *testing.T) {
	for secret, want := range map[string]prune.BundleName{
		"intentplane-bundle-platform":    {Group: "claims.intentplane.dev", Name: "platform"},
		"intentplane-bundle-platform.ns": {Group: "intentplane.dev", Name: "platform"},
		"theirs-platform":                {Name: "theirs-platform"},
	} {
		if diff := cmp.Diff(want, bundleOfSecret(secret)); diff != "" {
			t.Errorf("bundleOfSecret(%q): -want, +got:\n%s", secret, diff)
		}
	}
}

// TestMadeByBundle believes who wrote an object, and not its labels alone.
func TestMadeByBundle(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetLabels(map[string]string{v1alpha1.LabelBundle: "platform"})
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-edit"}})
	if isMadeByBundle(u) {
		t.Error("An object that a user labelled counts as one that a bundle made.")
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-edit"}, {Manager: "intentplane-bundlestate"}})
	if !isMadeByBundle(u) {
		t.Error("An object that a bundle made counts as that of a user.")
	}
}
