package engines

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestParseFluxRevision(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	cases := map[string]struct {
		reason   string
		revision string
		want     string
	}{
		"Branch":   {reason: "The commit stands behind the branch.", revision: "main@sha1:" + id, want: id},
		"NoBranch": {reason: "A revision need not name a branch.", revision: "sha1:" + id, want: id},
		"At":       {reason: "A branch may have an @ in its name.", revision: "a@b@sha1:" + id, want: id},
		"NoHash":   {reason: "An id without the name of its hash proves nothing.", revision: id},
		"SHA256":   {reason: "A digest of an artifact is not the id of a commit.", revision: "main@sha256:" + id},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := parseFluxRevision(tc.revision); got != tc.want {
				t.Errorf("\n%s\nparseFluxRevision(%q): want %q, got %q", tc.reason, tc.revision, tc.want, got)
			}
		})
	}
}

func TestHasSpecField(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  any
		want   bool
	}{
		"Null":      {reason: "A field that is null sets nothing.", value: nil},
		"False":     {reason: "A field that is false sets nothing.", value: false},
		"True":      {reason: "A field that is true sets something.", value: true, want: true},
		"NoText":    {reason: "An empty text sets nothing.", value: ""},
		"Text":      {reason: "A text sets something.", value: "a", want: true},
		"NoItems":   {reason: "An empty list sets nothing.", value: []any{}},
		"Items":     {reason: "A list with items sets something.", value: []any{"a"}, want: true},
		"NoEntries": {reason: "An empty map sets nothing.", value: map[string]any{}},
		"Entries":   {reason: "A map with entries sets something.", value: map[string]any{"a": "b"}, want: true},
		"Number":    {reason: "A number sets something, also 0.", value: int64(0), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"field": tc.value}}}
			if got := hasSpecField(u, "other", "field"); got != tc.want {
				t.Errorf("\n%s\nhasSpecField(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
