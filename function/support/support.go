// Package support names the fields that are in the schemas and do nothing yet, so that none is silently ignored.
package support

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/function/catalog"
)

// configFields are the paths of fields that no code of this version reads, of which there are none now. A test compares them with the sources.
func configFields() []string { return nil }

// Selection names the fields of the configurations used that are set and do nothing yet. It returns an error when one of them
// cannot be encoded.
func Selection(s *catalog.Selection) ([]string, error) {
	var out []string
	for _, p := range s.Places {
		config, err := setFieldsOfSpec(p.Config, configFields(), fmt.Sprintf("%s %s: spec.", p.ConfigRef.Kind, p.ConfigRef.Name))
		if err != nil {
			return nil, err
		}
		out = append(out, config...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Config returns the paths, in the spec of a configuration, of the fields that are set and do nothing yet.
func Config(spec map[string]any) []string { return namesOfSetFields(spec, configFields(), "") }

func setFieldsOfSpec(spec any, fields []string, prefix string) ([]string, error) {
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode spec")
	}
	set := map[string]any{}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, errors.Wrap(err, "cannot decode spec")
	}
	return namesOfSetFields(set, fields, prefix), nil
}

func namesOfSetFields(set map[string]any, fields []string, prefix string) []string {
	var out []string
	for _, f := range fields {
		_, found, err := unstructured.NestedFieldNoCopy(set, strings.Split(f, ".")...)
		if err != nil || !found {
			continue
		}
		out = append(out, prefix+f)
	}
	return out
}
