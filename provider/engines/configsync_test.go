package engines

import (
	"encoding/json"
	"strings"
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

// TestConfigSyncDirectory observes a RootSync whose manager has observed its directory, with stages that are about this directory or an earlier directory.
func TestConfigSyncDirectory(t *testing.T) {
	const commit, dir = "0123456789abcdef0123456789abcdef01234567", "clusters/edge1/team-a/web"
	cases := map[string]struct {
		reason                  string
		source, rendering, sync string
		errors                  int
		want                    string
	}{
		"Same":     {reason: "Stages of the directory of the spec prove the applied commit.", source: dir, rendering: dir, sync: dir},
		"Spelling": {reason: "A directory has several spellings.", source: "/" + dir, rendering: dir + "/", sync: "./" + dir},
		"Earlier": {
			reason: "Stages of an earlier directory prove nothing of the directory of the spec.",
			source: "clusters/edge2", rendering: "clusters/edge2", sync: "clusters/edge2", want: v1alpha1.SiteReasonProgressing,
		},
		"EarlierSync": {
			reason: "A commit that was read from the directory is not applied before it is synced.",
			source: dir, rendering: dir, sync: "clusters/edge2", want: v1alpha1.SiteReasonProgressing,
		},
		"EarlierErrors": {
			reason: "Errors in an earlier directory are no failure of the directory of the spec.",
			source: "clusters/edge2", rendering: dir, sync: dir, errors: 1, want: v1alpha1.SiteReasonProgressing,
		},
		"Root": {reason: "The root of a repository is another directory.", source: dir, rendering: dir, sync: "", want: v1alpha1.SiteReasonProgressing},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stage := func(dir string, count int) map[string]any {
				return map[string]any{"commit": commit, "gitStatus": map[string]any{"dir": dir}, "errorSummary": map[string]any{"totalCount": int64(count)}}
			}
			synced := map[string]any{"type": "Syncing", "status": "False", "reason": "Sync"}
			rootSync := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": "o", "namespace": "n", "generation": int64(2)},
				"spec":     map[string]any{"git": map[string]any{"branch": "main", "dir": dir}},
				"status": map[string]any{
					"observedGeneration": int64(2), "conditions": []any{synced},
					"source": stage(tc.source, tc.errors), "rendering": stage(tc.rendering, 0), "sync": stage(tc.sync, 0),
				},
			}}
			group := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "o", "namespace": "n"}}}
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: dir}
			got := observeEngine(catalogv1alpha1.EngineConfigSync, w, rootSync, group)
			if diff := cmp.Diff(tc.want, got.Reason); diff != "" {
				t.Errorf("\n%s\nobserveEngine(): -want, +got:\n%s\n%s", tc.reason, diff, got.Message)
			}
		})
	}
}

func TestInventoryHealth(t *testing.T) {
	const present, earlier = "0123456", "fedcba9"
	const noStatus = "the ResourceGroup has no status at the synced commit for Deployment team-a/web"
	unknown := []string{"Unknown", v1alpha1.SiteReasonProgressing, noStatus}
	entry := func(kind, status, hash string) any {
		out := map[string]any{"kind": kind, "namespace": "team-a", "name": "web", "status": status}
		if hash != "" {
			out["sourceHash"] = hash
		}
		return out
	}
	stalled := []any{map[string]any{"type": "Stalled", "status": "True", "reason": "ComponentFailed", "message": "Deployment failed"}}
	cases := map[string]struct {
		reason     string
		statuses   []any
		conditions []any
		want       []string
	}{
		"Current": {
			reason:   "A current object of a version that reports no commits is healthy.",
			statuses: []any{entry("Deployment", "Current", "")}, want: []string{"Current", "", ""},
		},
		"Disabled": {reason: "Objects without a status have no known health.", want: []string{"", "", ""}},
		"PresentCommit": {
			reason:   "A current object of the synced commit is healthy.",
			statuses: []any{entry("Deployment", "Current", present)}, want: []string{"Current", "", ""},
		},
		"LongHash": {
			reason:   "A longer form of the synced commit is the same commit.",
			statuses: []any{entry("Deployment", "Current", readCommit)}, want: []string{"Current", "", ""},
		},
		"ShortHash": {
			reason:   "A shorter form than Config Sync writes identifies no commit.",
			statuses: []any{entry("Deployment", "Current", present[:6])}, want: unknown,
		},
		"EarlierCommit": {
			reason:   "An object that is current at an earlier commit is not known to be healthy at the synced commit.",
			statuses: []any{entry("Deployment", "Current", earlier)}, want: unknown,
		},
		"OneEarlier": {
			reason:   "Each object has to be at the synced commit.",
			statuses: []any{entry("Service", "Current", present), entry("Deployment", "Current", earlier)},
			want:     unknown,
		},
		"NoCommit": {
			reason:   "An object without a commit beside an object with a commit was not applied at the synced commit.",
			statuses: []any{entry("Service", "Current", present), entry("Deployment", "Current", "")},
			want:     unknown,
		},
		"EarlierFailure": {
			reason:     "An object that failed at an earlier commit has not failed at the synced commit, although the group is stalled for it.",
			statuses:   []any{entry("Deployment", "Failed", earlier)},
			conditions: stalled, want: unknown,
		},
		"Failure": {
			reason:     "A failure at the synced commit counts, although another object is at an earlier commit.",
			statuses:   []any{entry("Service", "Current", earlier), entry("Deployment", "Failed", present)},
			conditions: stalled, want: []string{"Failed", v1alpha1.SiteReasonUnhealthy, "Deployment team-a/web is Failed"},
		},
		"Progress": {
			reason:   "An object of the synced commit that makes progress is named with its status.",
			statuses: []any{entry("Deployment", "InProgress", present)},
			want:     []string{"InProgress", v1alpha1.SiteReasonProgressing, "Deployment team-a/web is InProgress"},
		},
	}
	resources := []any{map[string]any{"group": "apps", "kind": "Deployment", "namespace": "team-a", "name": "web"}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status := map[string]any{"resourceStatuses": tc.statuses, "conditions": tc.conditions}
			group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"resources": resources}, "status": status}}
			health, reason, message := inventoryHealth(Ref{}, group, readCommit)
			if diff := cmp.Diff(tc.want, []string{health, reason, strings.TrimPrefix(message, engineTextMark)}); diff != "" {
				t.Errorf("\n%s\ninventoryHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
