package guard

import (
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/intentplane/intentplane/apis/boundedyaml"
)

// allowedFields returns the fields of a kustomization that a Blueprint may use. The others reach the network, the disk or another program (helm,
// openapi, plugins), keep state in the process, or were replaced by a newer field.
func allowedFields() []string {
	return []string{
		"apiVersion", "kind", "metadata", "resources", "components", "namespace", "namePrefix", "nameSuffix", "labels",
		"commonAnnotations", "images", "replicas", "patches", "replacements", "configMapGenerator", "secretGenerator",
		"generatorOptions", "configurations", "sortOptions",
	}
}

// replacementField returns the field that replaced a deprecated one, or "".
func replacementField(name string) string {
	return map[string]string{
		"bases": "resources", "commonLabels": "labels", "imageTags": "images",
		"patchesJson6902": "patches", "patchesStrategicMerge": "patches", "vars": "replacements",
	}[name]
}

// decodeKustomization reads a kustomization with kustomize's own decoder, after the names of its fields were checked: that decoder ignores
// their case.
func decodeKustomization(text string) (*types.Kustomization, error) {
	fields := map[string]any{}
	if err := boundedyaml.UnmarshalStrict([]byte(text), &fields); err != nil {
		return nil, errors.New(ShortenMessage(err.Error()))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if replacement := replacementField(name); replacement != "" {
			return nil, errors.Errorf("%s: is not allowed: use %s instead", name, replacement)
		}
		if !slices.Contains(allowedFields(), name) {
			return nil, errors.Errorf("%.64q: is not allowed in a Blueprint: use %s", name, strings.Join(allowedFields(), ", "))
		}
	}
	k := &types.Kustomization{}
	if err := k.Unmarshal([]byte(text)); err != nil {
		return nil, errors.New(ShortenMessage(err.Error()))
	}
	return k, nil
}
