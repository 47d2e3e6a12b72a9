package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncode decodes a file and encodes its object, which changes nothing of a file in the form of kustomize.
func TestEncode(t *testing.T) {
	const numbers = "apiVersion: v1\ndata:\n  large: 9007199254740993\nkind: ConfigMap\nmetadata:\n  name: numbers\n"
	cases := map[string]struct {
		reason, file, want, err string
	}{
		"Numbers": {reason: "Numbers keep their digits, also more than a float has.", file: numbers, want: numbers},
		"NoKind":  {reason: "A file without a kind holds no object.", file: "metadata: {name: a}\n", err: "is not an object with kind and metadata.name"},
		"NoName":  {reason: "An object without a name cannot be in a directory.", file: "kind: A\n", err: "is not an object with kind and metadata.name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := Decode([]byte(tc.file))
			message, got := "", ""
			if err != nil {
				message = err.Error()
			}
			if err == nil {
				b, err := Encode(u)
				if err != nil {
					t.Fatal(err)
				}
				got = string(b)
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nEncode(Decode(...)): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
