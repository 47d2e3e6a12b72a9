package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/schema"
	"github.com/intentplane/intentplane/function/render/guard"
)

const maxDefinitions = 32

// Definitions returns the schemas of the custom resources whose CustomResourceDefinition is among a Blueprint's files. The
// rendered objects are checked by them, and kinds that they call cluster-scoped get no namespace. They are delivered only when a
// kustomization lists them as resources, as any other object is. It returns an error that names the file.
func Definitions(b *catalogv1alpha1.Blueprint) (*schema.Set, error) {
	files := map[string]string{}
	for name, text := range b.Spec.Files {
		files[name] = string(text)
	}
	return readDefinitions(files)
}

// EachDefinition calls add with each of a Blueprint's files that may hold a definition, in the order of their names.
func EachDefinition(b *catalogv1alpha1.Blueprint, add func([]byte)) {
	for _, name := range slices.Sorted(maps.Keys(b.Spec.Files)) {
		if text := string(b.Spec.Files[name]); strings.Contains(text, guard.DefinitionKind) {
			add([]byte(text))
		}
	}
}

func readDefinitions(files map[string]string) (*schema.Set, error) {
	found := [][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.Contains(files[name], guard.DefinitionKind) {
			continue
		}
		in, err := readDefinitionFile(name, files)
		if err != nil {
			return nil, errors.Wrap(err, "spec.files")
		}
		found = append(found, in...)
	}
	if len(found) > maxDefinitions {
		return nil, errors.Errorf("spec.files: %d definitions of custom resources are more than %d", len(found), maxDefinitions)
	}
	s, err := schema.Definitions(found...)
	return s, errors.Wrap(err, "spec.files")
}

// readDefinitionFile reads the definitions of a file. Files that are not YAML hold none.
func readDefinitionFile(name string, files map[string]string) ([][]byte, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return nil, nil
	}
	documents, err := guard.ReadKind(name, files[name], guard.DefinitionKind)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, 0, len(documents))
	for _, d := range documents {
		b, err := yaml.Marshal(d)
		if err != nil {
			return nil, errors.Wrapf(err, "%s: cannot encode", name)
		}
		out = append(out, b)
	}
	return out, nil
}
