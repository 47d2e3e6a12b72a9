// Package plugin shows, on a real API server with the real definitions, what kubectl intent says of deployments, and of an installation. No controller runs: the tests write what one
// would, so that they know what there is to see.
package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one API server of this package's tests.
var cp *controlplane.ControlPlane

func runSuite(m *testing.M) (int, error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "definitions-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := writeDefinitions(dir); err != nil {
		return 1, err
	}
	tools, err := controlplane.FindTools(ctx)
	if err != nil {
		return 1, err
	}
	cp, err = controlplane.StartServer(ctx, dir, tools.CrossplaneCRDs)
	if err != nil {
		return 1, err
	}
	code := m.Run()
	return code, errors.Join(cp.Err(), cp.Stop())
}

// writeDefinitions writes the CustomResourceDefinitions that Crossplane would make of ours: of the namespaced shape, and of claims.
func writeDefinitions(dir string) error {
	root, err := controlplane.Root()
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
			return err
		}
		if b, err = servedDefinition(b); err != nil {
			return errors.Wrap(err, file)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), b, 0o600); err != nil {
			return err
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

// plugin is the program that make build left.
func plugin() (string, error) {
	root, err := controlplane.Root()
	return filepath.Join(root, "_output", "bin", "kubectl-intent"), err
}
