package listing

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutManagedFields(t *testing.T) {
	cases := map[string]struct {
		reason, object, want string
	}{
		"Last": {
			reason: "The field may be the last one.",
			object: `{"metadata":{"name":"x","managedFields":[{"a":"]}"}]}}`, want: `{"metadata":{"name":"x","managedFields":null}}`,
		},
		"Blanks": {
			reason: "Blanks may stand around the field.",
			object: "{ \"metadata\" : {\n \"managedFields\" : [ 1 ] , \"name\" : \"x\" } }", want: "{ \"metadata\" : {\n \"managedFields\" : null , \"name\" : \"x\" } }",
		},
		"Short": {
			reason: "A value that is shorter than null is replaced too.",
			object: `{"metadata":{"managedFields":[],"name":"x"}}`, want: `{"metadata":{"managedFields":null,"name":"x"}}`,
		},
		"Elsewhere": {
			reason: "A field of that name in another place stays.",
			object: `{"metadata":{"annotations":{"managedFields":"a"},"name":"x"},"managedFields":[1]}`,
			want:   `{"metadata":{"annotations":{"managedFields":"a"},"name":"x"},"managedFields":[1]}`,
		},
		"Text": {
			reason: "A text that looks like the field stays.",
			object: `{"metadata":{"name":"\"managedFields\":[1]"}}`, want: `{"metadata":{"name":"\"managedFields\":[1]"}}`,
		},
		"None":      {reason: "An object without metadata stays.", object: `{"spec":{}}`, want: `{"spec":{}}`},
		"Empty":     {reason: "An empty object stays.", object: `{}`, want: `{}`},
		"Number":    {reason: "A value that is not an object stays.", object: `5`, want: `5`},
		"String":    {reason: "A string stays.", object: `"metadata"`, want: `"metadata"`},
		"Malformed": {reason: "Its decoder says what is malformed.", object: `{"metadata":{"managedFields":[1}`, want: `{"metadata":{"managedFields":[1}`},
		"NoColon":   {reason: "A field without a colon stays.", object: `{"metadata" {"managedFields":[1]}}`, want: `{"metadata" {"managedFields":[1]}}`},
		"Comma":     {reason: "An object that begins with a comma stays.", object: `{,}`, want: `{,}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(withoutManagedFields([]byte(tc.object)))); diff != "" {
				t.Errorf("\n%s\nwithoutManagedFields(%s): -want, +got:\n%s", tc.reason, tc.object, diff)
			}
		})
	}
}

// FuzzWithoutManagedFields has any bytes for an object: none of them ends the program.
func FuzzWithoutManagedFields(f *testing.F) {
	f.Add([]byte(`{"metadata":{"managedFields":[{"a":"]}"}],"name":"x"}}`))
	f.Add([]byte(`{"metadata" :`))
	f.Fuzz(func(t *testing.T, object []byte) {
		if got := withoutManagedFields(object); len(got) > len(object)+len("null") {
			t.Errorf("withoutManagedFields(...): %d bytes became %d", len(object), len(got))
		}
	})
}
