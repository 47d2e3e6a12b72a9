package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestParameters(t *testing.T) {
	schema := `{"type": "object", "additionalProperties": false, "required": ["size"], "properties": {
		"size": {"type": "integer", "minimum": 1, "maximum": 9}, "on": {"type": "boolean", "default": true}, "name": {"type": "string", "enum": ["1", "2"]}}}`
	type want struct {
		parameters map[string]string
		err        string
	}
	cases := map[string]struct {
		reason string
		schema string
		given  map[string]string
		want   want
	}{
		"NoSchema": {
			reason: "Without a schema any parameters are taken.",
			given:  map[string]string{"a": "b"},
			want:   want{parameters: map[string]string{"a": "b"}},
		},
		"Coerced": {
			reason: "Values are read by the types of the schema, and defaults are added.",
			schema: schema,
			given:  map[string]string{"size": "3", "name": "1"},
			want:   want{parameters: map[string]string{"size": "3", "name": "1", "on": "true"}},
		},
		"Refused": {
			reason: "Every wrong parameter is named.",
			schema: schema,
			given:  map[string]string{"size": "30", "on": "yes", "color": "red"},
			want: want{
				parameters: map[string]string{"size": "30", "on": "yes", "color": "red"},
				err: `the intent's parameters do not match spec.parametersSchema: parameters.color is a forbidden property; ` +
					`parameters.on must be of type boolean: "string"; parameters.size should be less than or equal to 9`,
			},
		},
		"Missing": {
			reason: "A required parameter that is missing is refused.",
			schema: schema,
			want: want{
				parameters: map[string]string{"on": "true"},
				err:        "the intent's parameters do not match spec.parametersSchema: parameters.size is required",
			},
		},
		"Reference": {
			reason: "A schema that the library gives up on is an error, not a crash.",
			schema: `{"$ref": "https://example.org/schema.json"}`,
			want: want{
				parameters: map[string]string{},
				err:        "spec.parametersSchema: cannot be used: schema references not supported: https://example.org/schema.json",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := completeParameters(raw(tc.schema), tc.given)
			if diff := cmp.Diff(tc.want.err, message(err)); diff != "" {
				t.Errorf("\n%s\nparameters(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.parameters, got); diff != "" {
				t.Errorf("\n%s\nparameters(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func raw(schema string) *runtime.RawExtension {
	if schema == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(schema)}
}
