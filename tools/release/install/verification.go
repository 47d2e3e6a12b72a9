package install

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

const (
	secretName = "intentplane-release-key"
	secretKey  = "cosign.pub"

	verificationHeader = "# Makes a Crossplane that was started with --enable-signature-verification refuse packages of Intentplane that the key did not sign.\n" +
		"# Where packages come from another registry, add its prefix: an image is looked up by the name that it has there.\n"
)

// Verification returns the objects with which Crossplane verifies the packages, as YAML: the public key, in PEM, and the ImageConfig that names it.
func Verification(public []byte) ([]byte, error) {
	out := []byte(verificationHeader)
	for _, object := range []map[string]any{keySecret(public), verifyingConfig()} {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("cannot encode %v: %w", object["kind"], err)
		}
		out = append(append(out, "---\n"...), text...)
	}
	return out, nil
}

func keySecret(public []byte) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata":   map[string]any{"name": secretName, "namespace": "crossplane-system"},
		"stringData": map[string]any{secretKey: string(public)},
	}
}

func verifyingConfig() map[string]any {
	key := map[string]any{"hashAlgorithm": "sha256", "secretRef": map[string]any{"name": secretName, "key": secretKey}}
	return map[string]any{
		"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "ImageConfig",
		"metadata": map[string]any{"name": "intentplane-verification"},
		"spec": map[string]any{
			"matchImages": []any{map[string]any{"type": "Prefix", "prefix": Repository}},
			"verification": map[string]any{
				"provider": "Cosign",
				"cosign":   map[string]any{"authorities": []any{map[string]any{"name": "intentplane", "key": key}}},
			},
		},
	}
}
