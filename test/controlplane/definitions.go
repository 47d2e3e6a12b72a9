package controlplane

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// WriteDefinitions writes the CustomResourceDefinitions that Crossplane would make of ours into a directory: of the namespaced shape, and of claims. An API
// server without Crossplane serves them.
func WriteDefinitions(dir string) error {
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, "apis", "composition", "*", "*definition.yaml"))
	if err != nil || len(files) != 8 {
		return errors.Errorf("cannot find eight definitions: %q, %v", files, err)
	}
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return errors.Wrap(err, "cannot read definition")
		}
		if b, err = servedDefinition(b); err != nil {
			return errors.Wrap(err, file)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), b, 0o600); err != nil {
			return errors.Wrap(err, "cannot write definition")
		}
	}
	return nil
}

// servedDefinition returns the definition that an API server takes. Crossplane adds conditions, and its own fields of the spec.
func servedDefinition(definition []byte) ([]byte, error) {
	d := struct {
		Spec struct {
			Group      string           `json:"group"`
			Names      map[string]any   `json:"names"`
			ClaimNames map[string]any   `json:"claimNames"`
			Versions   []map[string]any `json:"versions"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal(definition, &d); err != nil {
		return nil, err
	}
	names := d.Spec.Names
	if d.Spec.ClaimNames != nil {
		names = d.Spec.ClaimNames
	}
	for _, v := range d.Spec.Versions {
		delete(v, "referenceable")
		v["served"], v["storage"], v["subresources"] = true, true, map[string]any{"status": map[string]any{}}
		fields := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)
		object := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		fields["spec"].(map[string]any)["properties"].(map[string]any)["resourceRef"] = object
		fields["status"].(map[string]any)["properties"].(map[string]any)["conditions"] = map[string]any{"type": "array", "items": object}
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": fmt.Sprintf("%s.%s", names["plural"], d.Spec.Group)},
		"spec":     map[string]any{"group": d.Spec.Group, "scope": "Namespaced", "names": names, "versions": d.Spec.Versions},
	})
}
