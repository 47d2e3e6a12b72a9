package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	providerpackage "github.com/intentplane/intentplane/package/provider"
)

// A schema is the CustomResourceDefinition's schema of a field.
type schema = extv1.JSONSchemaProps

// loadSchemas returns the schemas of the files by their names, made of the CustomResourceDefinition's schema of a status: a file that no
// status could show would make every write of the status fail, so that nothing could be said about it.
var loadSchemas = sync.OnceValues(func() (map[string]schema, error) { //nolint:gochecknoglobals // Read once: it is part of the binary.
	content, err := providerpackage.CRDs().ReadFile("crds/delivery.intentplane.dev_gitdeliveries.yaml")
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the definition of GitDelivery")
	}
	definition := extv1.CustomResourceDefinition{}
	if err := boundedyaml.Unmarshal(content, &definition); err != nil {
		return nil, errors.Wrap(err, "cannot decode the definition of GitDelivery")
	}
	return newFileSchemas(*definition.Spec.Versions[0].Schema.OpenAPIV3Schema), nil
})

func newFileSchemas(delivery schema) map[string]schema {
	claim, status := propertySchema(delivery, "spec", "forProvider", "claimRef"), propertySchema(delivery, "status", "atProvider").Properties
	remote, record, tree := status["remote"].Properties, status["record"], *status["trees"].Items.Schema
	tree.Properties["branch"] = remote["branch"]
	maps.Copy(record.Properties, map[string]schema{
		"claim": claim, "clusterUID": claim.Properties["uid"], "lastNumber": status["ledger"].Properties["lastNumber"],
		"commit": remote["commit"], "commitTime": remote["commitTime"], "base": remote["commit"], "attempt": status["attempt"],
		"trees": newListSchema(tree, maxTrees), "former": newListSchema(tree, maxFormer), "revisions": status["history"],
	})
	record.Required = append(record.Required, "claim", "clusterUID")
	return map[string]schema{recordFile: record, ledgerFile: {
		Properties: map[string]schema{"claim": claim, "clusterUID": claim.Properties["uid"], "state": status["ledger"], "taken": status["taken"], "events": newListSchema(schema{}, maxEvents)},
		Required:   []string{"claim", "clusterUID", "state"},
	}}
}

func newListSchema(item schema, maximum int64) schema {
	return schema{MaxItems: &maximum, Items: &extv1.JSONSchemaPropsOrArray{Schema: &item}}
}

func propertySchema(s schema, names ...string) schema {
	for _, name := range names {
		s = s.Properties[name]
	}
	return s
}

// checkSchema returns an error about the first field of a file that is not as its schema says, but for types, which decoding checks. A validator of Kubernetes goes on after the first fault: about a forged file of 2 MiB it finds two million.
func checkSchema(file string, object map[string]any) error {
	schemas, err := loadSchemas()
	if err != nil {
		return err
	}
	return checkSchemaValue(schemas[file], "", object)
}

func checkSchemaValue(s schema, field string, v any) error {
	switch v := v.(type) {
	case nil:
		return errors.Errorf("%s is empty", field)
	case string:
		return checkTextValue(s, field, v)
	case json.Number:
		return checkNumber(s, field, v)
	case []any:
		return checkListItems(s, field, v)
	case map[string]any:
		return checkProperties(s, field, v)
	}
	return nil
}

// checkAmount returns an error about too few or too many elements of a field.
func checkAmount(minimum, maximum *int64, field string, n int, noun string) error {
	switch {
	case minimum != nil && int64(n) < *minimum:
		return errors.Errorf("%s has fewer than %d %s", field, *minimum, noun)
	case maximum != nil && int64(n) > *maximum:
		return errors.Errorf("%s has more than %d %s", field, *maximum, noun)
	}
	return nil
}

func checkTextValue(s schema, field, v string) error {
	isValue := func(allowed extv1.JSON) bool { return string(allowed.Raw) == strconv.Quote(v) }
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, isValue) {
		return errors.Errorf("%s is not known", field)
	}
	return checkAmount(s.MinLength, s.MaxLength, field, utf8.RuneCountInString(v), "characters")
}

func checkNumber(s schema, field string, v json.Number) error {
	n, err := v.Float64()
	switch {
	case err != nil:
		return errors.Errorf("%s is out of range", field) // The error of the number repeats it, and a file may have megabytes of digits.
	case s.Minimum != nil && n < *s.Minimum:
		return errors.Errorf("%s is below %v", field, *s.Minimum)
	case s.Maximum != nil && n > *s.Maximum:
		return errors.Errorf("%s is above %v", field, *s.Maximum)
	}
	return nil
}

func checkListItems(s schema, field string, items []any) error {
	if err := checkAmount(s.MinItems, s.MaxItems, field, len(items), "items"); err != nil || s.Items == nil {
		return err
	}
	for i, item := range items {
		if err := checkSchemaValue(*s.Items.Schema, fmt.Sprintf("%s[%d]", field, i), item); err != nil {
			return err
		}
	}
	return nil
}

func checkProperties(s schema, field string, object map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		v, isPresent := object[name]
		if !isPresent && !slices.Contains(s.Required, name) {
			continue
		}
		if err := checkSchemaValue(s.Properties[name], strings.TrimPrefix(field+"."+name, "."), v); err != nil {
			return err
		}
	}
	return nil
}
