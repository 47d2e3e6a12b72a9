package sites

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestDeliveryTimesOut has a repository that is not reached within deliveryTimeout. It would hold the ledger: so nothing is judged, the deployment
// names the repository that it waits for, and continues automatically once the repository exists.
func TestDeliveryTimesOut(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	s.Apply(s.Set(s.ClusterProviderConfig(), "http://127.0.0.1:1/nothing.git", "spec", "git", "url"))
	o := s.Set(s.Claim(claim, s.runIntent(1)), map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
	s.Set(o, "5s", "spec", "deliveryConfig", "deliveryTimeout")
	s.Apply(o)
	observed := s.Await(o, "LedgerUnreachable", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Delivering" && scene.Is(u, "Stalled", corev1.ConditionTrue, "LedgerUnreachable")
	})
	if message := scene.Condition(observed, "Stalled").Message; !strings.Contains(message, "connection refused") {
		t.Errorf("the deployment says %q", message)
	}
	s.Apply(s.ClusterProviderConfig())
	observed = s.Succeed(o)
	if scene.Number(observed, "status", "liveRevision") != scene.Number(observed, "status", "revision") || !strings.Contains(s.FilesBelow(s.Directory("edge1", claim))["deployment-shop.yaml"], "replicas: 1") {
		t.Errorf("the revision: %v", observed.Object["status"])
	}
}
