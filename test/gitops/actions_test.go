package gitops

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
)

func deploymentWith(group string, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if status != nil {
		o.Object["status"] = status
	}
	o.SetAPIVersion(group + "/v1alpha1")
	o.SetKind("IntentDeployment")
	o.SetNamespace("team-a")
	o.SetName("shop")
	return o
}

func TestArgoCDActions(t *testing.T) {
	cases := map[string]struct {
		reason string
		status map[string]any
		want   []string
	}{
		"New": {reason: "A deployment without a status offers no action."},
		"Delivering": {
			reason: "A revision that goes out can be given up.",
			status: map[string]any{"phase": "Delivering", "revision": int64(1)}, want: []string{"abort"},
		},
		"Verified": {
			reason: "A revision that was verified can be delivered again.",
			status: map[string]any{"phase": "Succeeded", "revision": int64(2), "liveRevision": int64(2), "verifiedRevision": int64(2)},
			want:   []string{"retry"},
		},
		"RolledBack": {
			reason: "A deployment that runs the verified revision cannot be rolled back to it.",
			status: map[string]any{"phase": "Succeeded", "revision": int64(2), "liveRevision": int64(1), "verifiedRevision": int64(1)}, want: []string{"retry"},
		},
		"Failed": {
			reason: "A deployment whose rejected revision still runs can be rolled back to the verified one.",
			status: map[string]any{"phase": "Failed", "revision": int64(2), "liveRevision": int64(2), "verifiedRevision": int64(1)}, want: []string{"retry", "rollback"},
		},
		"AwaitsPromotion": {
			reason: "A canary that waits for a user can be promoted or given up.",
			status: map[string]any{
				"phase": "Delivering", "revision": int64(2), "verifiedRevision": int64(1),
				"canary": map[string]any{"state": "AwaitingPromotion", "promote": int64(3)},
			},
			want: []string{"abort", "promote", "promote-full"},
		},
		"UpdateWaits": {
			reason: "An update that waits can be approved.",
			status: map[string]any{
				"phase": "Succeeded", "revision": int64(1), "liveRevision": int64(1), "verifiedRevision": int64(1),
				"update": map[string]any{"renderer": "2"},
			},
			want: []string{"approve", "retry"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ArgoCDActions(deploymentWith("claims.intentplane.dev", tc.status))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{"abort": false, "approve": false, "promote": false, "promote-full": false, "retry": false, "rollback": false}
			for _, enabled := range tc.want {
				want[enabled] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nArgoCDActions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoCDCreates looks at the RolloutRequest of each action as an API server does.
func TestArgoCDCreates(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]any{
		"revision": int64(7), "verifiedRevision": int64(5), "canary": map[string]any{"promote": int64(3)}, "update": map[string]any{"blueprint": "web-1.1.0"},
	}
	cases := map[string]struct {
		reason string
		want   map[string]any
	}{
		"abort":        {reason: "The present revision is given up.", want: map[string]any{"action": "Abort"}},
		"retry":        {reason: "The present revision is delivered again.", want: map[string]any{"action": "Retry"}},
		"rollback":     {reason: "A rollback goes to the verified revision.", want: map[string]any{"action": "RollbackTo", "toRevision": int64(5)}},
		"promote":      {reason: "A promotion names the step that waits.", want: map[string]any{"action": "Promote", "step": int64(3)}},
		"promote-full": {reason: "The action releases all steps.", want: map[string]any{"action": "Promote", "full": true}},
		"approve": {
			reason: "An approval names the update that the user saw.",
			want:   map[string]any{"action": "ApproveUpdate", "update": map[string]any{"blueprint": "web-1.1.0"}},
		},
	}
	for _, group := range []string{"claims.intentplane.dev", "intentplane.dev"} {
		for name, tc := range cases {
			t.Run(group+"/"+name, func(t *testing.T) {
				got, err := ArgoCDCreates(deploymentWith(group, status), name)
				if err != nil {
					t.Fatal(err)
				}
				spec := map[string]any{
					"deploymentRef": map[string]any{"apiGroup": group, "kind": "IntentDeployment", "name": "shop"}, "revision": int64(7), "reason": "An action of Argo CD.",
				}
				maps.Copy(spec, tc.want)
				want := map[string]any{
					"apiVersion": rollout, "kind": "RolloutRequest",
					"metadata": map[string]any{"namespace": "team-a", "name": "shop-" + name + "-7-" + scriptDate}, "spec": spec,
				}
				if diff := cmp.Diff(want, got.Object); diff != "" {
					t.Errorf("\n%s\nArgoCDCreates(...): -want, +got:\n%s", tc.reason, diff)
				}
				if problems := server.Check(t.Context(), got.Object); !server.Knows(got.GroupVersionKind()) || len(problems) > 0 {
					t.Errorf("\n%s\nAn API server refuses the request: %v", tc.reason, problems)
				}
			})
		}
	}
}
