package engines

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestConfigSyncCluster observes a RootSync that applied a commit with success, in the Site's cluster and in another
// cluster.
func TestConfigSyncCluster(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	rootSync := decodeJSONObject(t, json.RawMessage(`{"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync", "metadata": {"name": "o", "namespace": "n", "generation": 1},
		"spec": {"git": {"repo": "https://git.example.org/fleet.git", "branch": "main", "dir": "clusters/edge1/team-a/web"}},
		"status": {"observedGeneration": 1, "source": {"commit": "`+commit+`"}, "rendering": {"commit": "`+commit+`"}, "sync": {"commit": "`+commit+`"},
			"conditions": [{"type": "Syncing", "status": "False", "reason": "Sync", "message": "", "lastTransitionTime": "2026-11-01T12:00:00Z"}]}}`))
	inventory := decodeJSONObject(t, json.RawMessage(`{"apiVersion": "kpt.dev/v1alpha1", "kind": "ResourceGroup", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "status": {"observedGeneration": 1}}`))
	cases := map[string]struct {
		reason    string
		elsewhere bool
		want      string
	}{
		"SameCluster": {reason: "A RootSync in the Site's cluster proves its applied objects.", want: ""},
		"OtherCluster": {
			reason:    "A RootSync in another cluster proves nothing for the Site: it applies to the cluster that it runs in.",
			elsewhere: true, want: v1alpha1.SiteReasonWrongCluster,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := Want{
				URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web", Elsewhere: tc.elsewhere,
			}
			got := observeEngine(catalogv1alpha1.EngineConfigSync, w, rootSync, inventory)
			if diff := cmp.Diff(tc.want, got.Reason); diff != "" {
				t.Errorf("\n%s\nobserveEngine(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInventoryHealth(t *testing.T) {
	resources := []any{map[string]any{"group": "apps", "kind": "Deployment", "namespace": "team-a", "name": "web"}}
	cases := map[string]struct {
		reason   string
		statuses []any
		want     string
	}{
		"Current": {
			reason:   "A current object is healthy.",
			statuses: []any{map[string]any{"kind": "Deployment", "name": "web", "status": "Current"}}, want: "Current",
		},
		"Disabled": {reason: "Objects without a status have no known health.", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"resources": resources}, "status": map[string]any{"resourceStatuses": tc.statuses}}}
			got, reason, message := inventoryHealth(Ref{}, group)
			if diff := cmp.Diff([]string{tc.want, "", ""}, []string{got, reason, message}); diff != "" {
				t.Errorf("\n%s\ninventoryHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
