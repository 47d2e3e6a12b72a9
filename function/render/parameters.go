package render

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/intentplane/intentplane/function/render/guard"
)

// maxProblems is the greatest number of wrong parameters in one message.
const maxProblems = 5

// completeParameters returns the parameters with the schema's defaults. They are strings: where the schema wants a number or a boolean,
// they are read as one. It returns an error that names each parameter that the schema refuses.
func completeParameters(raw *runtime.RawExtension, values map[string]string) (map[string]string, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return values, nil
	}
	schema := &spec.Schema{}
	if err := json.Unmarshal(raw.Raw, schema); err != nil {
		return nil, errors.Errorf("spec.parametersSchema: %s", guard.ShortenMessage(err.Error()))
	}
	out := map[string]string{}
	for k, p := range schema.Properties {
		if p.Default != nil {
			out[k] = formatDefault(p.Default)
		}
	}
	maps.Copy(out, values)
	return out, validateParameters(schema, out)
}

// formatDefault writes a default as a parameter's value would be written.
func formatDefault(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	// A value decoded from JSON always encodes.
	b, _ := json.Marshal(v) //nolint:errchkjson // See above.
	return string(b)
}

func validateParameters(schema *spec.Schema, values map[string]string) (err error) { //nolint:nonamedreturns // A recovered panic is returned.
	defer func() {
		if p := recover(); p != nil {
			err = errors.Errorf("spec.parametersSchema: cannot be used: %.256v", p)
		}
	}()
	typed := make(map[string]any, len(values))
	for k, v := range values {
		typed[k] = coerceValue(schema, k, v)
	}
	result := validate.NewSchemaValidator(schema, nil, "parameters", strfmt.Default).Validate(typed)
	if result.IsValid() {
		return nil
	}
	problems := map[string]bool{}
	for _, e := range result.Errors {
		problems[strings.ReplaceAll(e.Error(), " in body", "")] = true
	}
	sorted := slices.Sorted(maps.Keys(problems))
	return errors.Errorf("the intent's parameters do not match spec.parametersSchema: %s", guard.ShortenMessage(strings.Join(sorted[:min(len(sorted), maxProblems)], "; ")))
}

// coerceValue reads a value as the type that the schema requires. A value of another type stays a string, which the schema then refuses.
func coerceValue(schema *spec.Schema, name, value string) any {
	t := schema.Properties[name].Type
	if !t.Contains("integer") && !t.Contains("number") && !t.Contains("boolean") {
		return value
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return value
	}
	switch typed := v.(type) {
	case bool:
		return typed
	case float64:
		if i := int64(typed); t.Contains("integer") && float64(i) == typed {
			return i
		}
		return typed
	}
	return value
}
