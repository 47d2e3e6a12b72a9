package render

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// fields of a kustomization that a Blueprint may use. What is not here reaches the network, the disk or another program (helm,
// openapi, plugins), keeps state in the process, or has a newer form.
func allowed(name string) bool {
	return slices.Contains([]string{
		"apiVersion", "kind", "metadata", "resources", "components", "namespace", "namePrefix", "nameSuffix", "labels",
		"commonAnnotations", "images", "replicas", "patches", "replacements", "configMapGenerator", "secretGenerator",
		"generatorOptions", "configurations", "sortOptions",
	}, name)
}

// newer names what replaced a field.
func newer(name string) string {
	return map[string]string{
		"bases":                 "resources",
		"commonLabels":          "labels",
		"imageTags":             "images",
		"patchesJson6902":       "patches",
		"patchesStrategicMerge": "patches",
		"vars":                  "replacements",
	}[name]
}

// decode reads a kustomization with kustomize's own decoder, after a look at the names of its fields: that decoder does not mind
// their case.
func decode(text string) (*types.Kustomization, error) {
	fields := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &fields); err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if by := newer(name); by != "" {
			return nil, errors.Errorf("%s: is not allowed: use %s instead", name, by)
		}
		if !allowed(name) {
			return nil, errors.Errorf("%.64q: is not allowed in a Blueprint", name)
		}
	}
	k := &types.Kustomization{}
	if err := k.Unmarshal([]byte(text)); err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	return k, nil
}
