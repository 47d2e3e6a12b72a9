package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReadEvidence(t *testing.T) {
	object := func(kind string, status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": map[string]any{}, "status": status}}
	}
	ready := []any{map[string]any{"type": "Ready", "status": "True"}}
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		want   Evidence
	}{
		"Done": {
			reason: "A deployment that succeeded is done.",
			object: object(
				"IntentDeployment",
				map[string]any{"intentDigest": "sha256:1", "phase": "Succeeded", "outcome": "Succeeded", "revision": int64(2), "conditions": ready},
			),
			want: Evidence{Reported: "sha256:1", IsDone: true, Ready: true, Revision: 2},
		},
		"RolledBack": {
			reason: "A deployment that was rolled back did not fail.",
			object: object("IntentDeployment", map[string]any{"outcome": "RolledBack", "message": "gate latency"}),
			want:   Evidence{WasRolledBack: true, Message: "gate latency"},
		},
		"Application": {
			reason: "An Application is ready while it runs.",
			object: object(
				"Application",
				map[string]any{
					"specDigest": "sha256:1", "phase": "Running", "deployment": map[string]any{"outcome": "Succeeded", "revision": int64(2)},
					"conditions": ready,
				},
			),
			want: Evidence{Reported: "sha256:1", IsDone: true, Ready: true, Revision: 2},
		},
		"HeldBack": {
			reason: "An Application that is suspended is held back, as a deployment is.",
			object: object(
				"Application",
				map[string]any{
					"specDigest": "sha256:1", "phase": "Pending",
					"conditions": []any{map[string]any{"type": "Reconciling", "status": "False", "reason": "HeldBack"}},
				},
			),
			want: Evidence{Reported: "sha256:1", IsHeldBack: true},
		},
		"Unreadable": {reason: "Nothing is known of an object that cannot be read.", object: object("IntentDeployment", map[string]any{"revision": "two"})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			digest, got := ReadEvidence(tc.object)
			if diff := cmp.Diff(tc.want, got); diff != "" || (digest == "") != (name == "Unreadable") {
				t.Errorf("\n%s\nReadEvidence(...): digest %q, -want, +got:\n%s", tc.reason, digest, diff)
			}
		})
	}
}
