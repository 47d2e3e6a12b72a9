package engines

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
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

// TestStalledSince has engines' objects of generation 2 that were stalled at noon.
func TestStalledSince(t *testing.T) {
	const noon = "2026-11-01T12:00:00Z"
	object := func(kind, condition string) string {
		return `{"kind": "` + kind + `", "metadata": {"generation": 2}, "status": {"conditions": [` + condition + `]}}`
	}
	stalled := func(status string, generation int) string {
		return fmt.Sprintf(`{"type": "Stalled", "status": %q, "reason": "AccessDenied", "observedGeneration": %d, "lastTransitionTime": %q}`, status, generation, noon)
	}
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.EngineType
		object string
		want   string
	}{
		"Flux": {
			reason: "Flux does not try a stalled Kustomization again until it changes.",
			engine: catalogv1alpha1.EngineFlux, object: object("Kustomization", stalled("True", 2)), want: noon,
		},
		"Earlier": {
			reason: "A Kustomization that changed since is tried again.",
			engine: catalogv1alpha1.EngineFlux, object: object("Kustomization", stalled("True", 1)),
		},
		"False": {
			reason: "A Kustomization that is not stalled is tried.",
			engine: catalogv1alpha1.EngineFlux, object: object("Kustomization", stalled("False", 2)),
		},
		"BadType": {
			reason: "A status that cannot be decoded declares nothing.",
			engine: catalogv1alpha1.EngineFlux, object: object("Kustomization", `"many"`),
		},
		"ConfigSync": {
			reason: "Config Sync ends a stall without a change.",
			engine: catalogv1alpha1.EngineConfigSync, object: object("RootSync", stalled("True", 2)),
		},
		"Missing": {reason: "An object that does not exist declares nothing.", engine: catalogv1alpha1.EngineFlux},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if start := StalledSince(tc.engine, decodeJSONObject(t, json.RawMessage(tc.object))); !start.IsZero() {
				got = start.UTC().Format(time.RFC3339)
			}
			if got != tc.want {
				t.Errorf("\n%s\nStalledSince(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestEarlierStall has a stalled condition of an earlier generation, which Flux has not removed yet.
func TestEarlierStall(t *testing.T) {
	const stalled = `{"type": "Stalled", "status": "True", "reason": "URLInvalid", "observedGeneration": 1}`
	const ready = `{"type": "Ready", "status": "Unknown", "reason": "Progressing", "observedGeneration": 2}`
	cases := map[string]struct {
		reason                string
		kustomization, source string
	}{
		"Source":        {reason: "A source that was corrected is fetched again.", kustomization: ready, source: stalled},
		"Kustomization": {reason: "A Kustomization that was corrected is applied again.", kustomization: ready + ", " + stalled, source: ready},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			main := `{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 2},
				"spec": {"path": "clusters/edge1", "sourceRef": {"kind": "GitRepository", "name": "fleet"}}, "status": {"conditions": [` + tc.kustomization + `]}}`
			source := `{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": "fleet", "namespace": "n", "generation": 2},
				"spec": {"url": "https://git.example.org/fleet.git", "ref": {"branch": "main"}}, "status": {"conditions": [` + tc.source + `]}}`
			want := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
			got := Observe(catalogv1alpha1.EngineFlux, want, decodeJSONObject(t, json.RawMessage(main)), decodeJSONObject(t, json.RawMessage(source)))
			if got.Reason != v1alpha1.SiteReasonProgressing {
				t.Errorf("\n%s\nObserve(...): want reason %s, got %s: %s", tc.reason, v1alpha1.SiteReasonProgressing, got.Reason, got.Message)
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
		"True":      {reason: "A true field is a setting.", value: true, want: true},
		"NoText":    {reason: "An empty text sets nothing.", value: ""},
		"Text":      {reason: "A text is a setting.", value: "a", want: true},
		"NoItems":   {reason: "An empty list sets nothing.", value: []any{}},
		"Items":     {reason: "A list with items is a setting.", value: []any{"a"}, want: true},
		"NoEntries": {reason: "An empty map sets nothing.", value: map[string]any{}},
		"Entries":   {reason: "A map with entries is a setting.", value: map[string]any{"a": "b"}, want: true},
		"Number":    {reason: "A number is a setting, also 0.", value: int64(0), want: true},
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
