package engines

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestFluxSourceState has a Kustomization that applied a commit, and a source of generation 2 of each kind.
func TestFluxSourceState(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	condition := func(kind, status, reason, message string, generation int) string {
		return fmt.Sprintf(`{"type": %q, "status": %q, "reason": %q, "message": %q, "observedGeneration": %d, "lastTransitionTime": "2026-11-01T12:00:00Z"}`, kind, status, reason, message, generation)
	}
	cases := map[string]struct {
		reason     string
		suspend    bool
		conditions string
		want       [2]string
	}{
		"Ready":     {reason: "A fetched source does not block a proof.", conditions: condition("Ready", "True", "Succeeded", "stored artifact", 2)},
		"NoStatus":  {reason: "A source without a condition reports no failure."},
		"Suspended": {reason: "A suspended source brings no newer commit.", suspend: true, want: [2]string{v1alpha1.SiteReasonSuspended, "its source is suspended"}},
		"Stalled": {
			reason: "A stalled source is not fetched again until it changes.", conditions: condition("Stalled", "True", "URLInvalid", "no", 2),
			want: [2]string{v1alpha1.SiteReasonStalled, "its source: URLInvalid: no"},
		},
		"StalledEarlier": {reason: "A source that changed since it was stalled is fetched again.", conditions: condition("Stalled", "True", "URLInvalid", "no", 1)},
		"Failed": {
			reason: "A source that cannot be fetched says why.", conditions: condition("Ready", "False", "FetchFailed", "unauthorized", 2),
			want: [2]string{v1alpha1.SiteReasonEngineFailed, "its source: FetchFailed: unauthorized"},
		},
		"FailedEarlier": {
			reason:     "A failure of an earlier generation is not that of the present source.",
			conditions: condition("Ready", "False", "FetchFailed", "unauthorized", 1),
		},
	}
	for _, kind := range fluxSourceKinds() {
		for name, tc := range cases {
			t.Run(kind+"/"+name, func(t *testing.T) {
				main := fmt.Sprintf(`{"kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "spec": {"path": "clusters/edge1/team-a/web", "sourceRef": {"kind": %q, "name": "fleet"}},
					"status": {"observedGeneration": 1, "lastAppliedRevision": "main@sha1:%[2]s", "lastAttemptedRevision": "main@sha1:%[2]s", "lastAppliedOriginRevision": "main@sha1:%[2]s", "conditions": [%[3]s]}}`,
					kind, commit, condition("Ready", "True", "ReconciliationSucceeded", "", 1))
				source := fmt.Sprintf(`{"kind": %q, "metadata": {"name": "fleet", "namespace": "n", "generation": 2}, "spec": {"suspend": %t, "ref": {"branch": "main"}}, "status": {"conditions": [%s]}}`, kind, tc.suspend, tc.conditions)
				w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
				got := Observe(catalogv1alpha1.EngineFlux, w, decodeJSONObject(t, json.RawMessage(main)), decodeJSONObject(t, json.RawMessage(source)))
				if diff := cmp.Diff(tc.want, [2]string{got.Reason, got.Message}); diff != "" {
					t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestFluxSourceContent has sources that have another content than that of the Site, and are suspended too.
func TestFluxSourceContent(t *testing.T) {
	cases := map[string]struct {
		reason, kind, path, ref string
		want                    [2]string
	}{
		"Tag": {
			reason: "A GitRepository that is pinned to a tag follows no branch.",
			kind:   "GitRepository", path: "clusters/edge1", ref: `{"tag": "v1"}`,
			want: [2]string{v1alpha1.SiteReasonWrongSource, "its source is pinned to a tag or a commit, and follows no branch"},
		},
		"Branch": {
			reason: "A GitRepository without a branch reads master.",
			kind:   "GitRepository", path: "clusters/edge1", ref: `{}`,
			want: [2]string{v1alpha1.SiteReasonWrongSource, `it reads branch "master", not "main"`},
		},
		"Name": {
			reason: "A reference by name goes before a branch.",
			kind:   "GitRepository", path: "clusters/edge1", ref: `{"name": "refs/heads/next", "branch": "main"}`,
			want: [2]string{v1alpha1.SiteReasonWrongSource, `it reads branch "refs/heads/next", not "main"`},
		},
		"Artifact": {
			reason: "An artifact may be named by a tag, and has to name its commit.",
			kind:   "OCIRepository", path: "clusters/edge1", ref: `{"tag": "v1"}`,
			want: [2]string{v1alpha1.SiteReasonEngineNotProvable, "the artifact of the OCIRepository does not say which commit it holds"},
		},
		"Bucket": {
			reason: "The content of a Bucket has to name its commit.",
			kind:   "Bucket", path: "clusters/edge1", ref: `{}`,
			want: [2]string{v1alpha1.SiteReasonEngineNotProvable, "the artifact of the Bucket does not say which commit it holds"},
		},
		"Path": {
			reason: "A directory of another Site in an artifact is not that of the Site.", kind: "OCIRepository", path: "clusters/edge2", ref: `{}`,
			want: [2]string{
				v1alpha1.SiteReasonWrongSource,
				`it reads directory "clusters/edge2", which is neither the Site's "clusters/edge1" nor one in it that holds "clusters/edge1/team-a/web"`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			main := fmt.Sprintf(`{"kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "spec": {"path": %q, "sourceRef": {"kind": %q, "name": "fleet"}},
				"status": {"lastAppliedRevision": "latest@sha256:0123"}}`, tc.path, tc.kind)
			source := fmt.Sprintf(`{"kind": %q, "metadata": {"name": "fleet", "namespace": "n", "generation": 1}, "spec": {"suspend": true, "ref": %s}}`, tc.kind, tc.ref)
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
			got := Observe(catalogv1alpha1.EngineFlux, w, decodeJSONObject(t, json.RawMessage(main)), decodeJSONObject(t, json.RawMessage(source)))
			if diff := cmp.Diff(tc.want, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
