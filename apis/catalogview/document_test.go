package catalogview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentIsBounded encodes more Sites than a document has room for.
func TestDocumentIsBounded(t *testing.T) {
	const sites = 2000
	all := make([]Site, sites)
	for i := range all {
		all[i] = Site{Name: fmt.Sprintf("edge%04d", sites-1-i), Path: strings.Repeat("p", 200)}
	}
	text, err := EncodeSites(all)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode[Site](text)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Items); len(text) > maxDocumentBytes+1<<10 || n == 0 || got.Omitted == 0 || n+got.Omitted != sites || got.Items[0].Name != "edge0000" {
		t.Errorf("EncodeSites(...): %d bytes, %d listed and %d omitted, the first one is %q", len(text), n, got.Omitted, got.Items[0].Name)
	}
	if all[0].Name != "edge1999" {
		t.Error("EncodeSites(...) changes its input")
	}
}

func TestEncodeBlueprints(t *testing.T) {
	large, parameters := strings.Repeat("x", maxBlueprintBytes), []Parameter{{Name: "greeting", Description: "What it says"}}
	cases := map[string]struct {
		reason    string
		blueprint Blueprint
		want      Blueprint
	}{
		"Small": {
			reason:    "A small Blueprint is published with its examples.",
			blueprint: Blueprint{Object: "web", Examples: []string{"{}"}, Parameters: parameters},
			want:      Blueprint{Object: "web", Examples: []string{"{}"}, Parameters: parameters},
		},
		"Examples": {
			reason:    "A Blueprint with long examples is published without them.",
			blueprint: Blueprint{Object: "web", Examples: []string{large}, Parameters: parameters},
			want:      Blueprint{Object: "web", Parameters: parameters},
		},
		"Descriptions": {
			reason:    "A Blueprint with long descriptions is published with the names of its parameters.",
			blueprint: Blueprint{Object: "web", Examples: []string{"{}"}, Parameters: []Parameter{{Name: "greeting", Description: large}}},
			want:      Blueprint{Object: "web", Parameters: []Parameter{{Name: "greeting"}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := EncodeBlueprints([]Blueprint{tc.blueprint})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode[Blueprint](text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(List[Blueprint]{Items: []Blueprint{tc.want}}, got); diff != "" {
				t.Errorf("\n%s\nEncodeBlueprints(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecodeBroken reads a document that a user broke.
func TestDecodeBroken(t *testing.T) {
	if _, err := Decode[Site]("{"); err == nil || !strings.Contains(err.Error(), "cannot decode the published catalog of a namespace") {
		t.Errorf("Decode(...): want an error that names the document, got %v", err)
	}
}
