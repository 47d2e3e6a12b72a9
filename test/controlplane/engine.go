package controlplane

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RemoveEngine takes the GitOps engine from a Site, whose files in Git then count as live, and leaves other objects as they are. It returns an error for a Site
// that is malformed.
func RemoveEngine(u *unstructured.Unstructured) error {
	if u.GetKind() != "Site" {
		return nil
	}
	engine := map[string]any{"type": "None", "unobservedIsLive": true}
	return errors.Wrapf(unstructured.SetNestedMap(u.Object, engine, "spec", "engine"), "cannot set engine of Site %s", u.GetName())
}
