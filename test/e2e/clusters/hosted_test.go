package clusters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestLateCluster rejects a revision whose cluster does not come in time, and delivers it when the cluster exists and a user requests it again.
func TestLateCluster(t *testing.T) {
	t.Parallel()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := newClusterStage(t)
	site := s.Set(s.NewSite("late"), map[string]any{"clusterRef": map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": s.Namespace, "name": name,
	}}, "spec", "cluster")
	s.Apply(site)
	shop := s.Claim("shop", `{"service":"shop","type":"web","sites":["`+site.GetName()+`"],"replicas":1}`)
	s.Apply(s.Set(shop, "5s", "spec", "deliveryConfig", "clusterWaitTimeout"))
	s.awaitObject(shop, "is rejected", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "Delivered", corev1.ConditionFalse, "ClusterTimedOut")
	})
	dir := s.Directory("late", "shop")
	if files := s.FilesBelow(dir); len(files) > 0 {
		t.Errorf("files were delivered to a missing cluster: %v", scene.Names(files))
	}

	s.hostCluster(k).buildHosted()
	s.awaitObject(s.onlyObjectOfKind("delivery.intentplane.dev/v1alpha1", "SiteSync"), "sees the cluster ready", func(u *unstructured.Unstructured) bool {
		sites, _, _ := unstructured.NestedSlice(u.Object, "status", "atProvider", "sites")
		if len(sites) != 1 {
			return false
		}
		firstSite, _ := sites[0].(map[string]any)
		ready, _, _ := unstructured.NestedBool(firstSite, "cluster", "ready")
		return ready
	})
	s.Apply(s.Request("again", shop, rolloutv1alpha1.ActionRetry, 1))
	s.awaitPhaseMessage(shop, "Succeeded")
	if len(s.FilesBelow(dir)) == 0 {
		t.Error("nothing was delivered")
	}
}
