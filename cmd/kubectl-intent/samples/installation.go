package samples

import (
	"bytes"
	_ "embed"
	"io"
	"io/fs"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/intentplane/intentplane/examples"
	providerpackage "github.com/intentplane/intentplane/package/provider"
)

// installed are the objects of an installation that is well, without managed kinds and policies.
//
//go:embed installation.yaml
var installed []byte

// Installation returns the objects of an installation that is well, with its packages, definitions, managed kinds and policies. It returns an error if one
// cannot be decoded.
func Installation() ([]*unstructured.Unstructured, error) {
	out, err := decodeObjects(installed)
	if err != nil {
		return nil, err
	}
	definitions, err := decodeFiles(providerpackage.CRDs(), "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		out = append(out, managedKind(d))
	}
	policies, err := decodeFiles(examples.Files(), "policies/*.yaml")
	for _, p := range policies {
		if p.GetKind() != "Kustomization" {
			out = append(out, p)
		}
	}
	return out, err
}

// managedKind returns the definition that Crossplane makes of a definition in a provider's package.
func managedKind(d *unstructured.Unstructured) *unstructured.Unstructured {
	spec, _, _ := unstructured.NestedMap(d.Object, "spec")
	spec["state"] = "Active"
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "ManagedResourceDefinition", "metadata": map[string]any{"name": d.GetName()}, "spec": spec,
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Established", "status": "True", "reason": "EstablishedManagedResource", "lastTransitionTime": "2031-05-06T12:00:00Z",
		}}},
	}}
}

func decodeFiles(files fs.FS, pattern string) ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, name := range names {
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all, err := decodeObjects(b)
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		out = append(out, all...)
	}
	return out, nil
}

func decodeObjects(stream []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), len(stream))
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, errors.Wrap(err, "cannot decode object")
		case len(o.Object) > 0:
			out = append(out, o)
		}
	}
}
