package sites

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestDeliveryTimesOut has a repository that is not reached within deliveryTimeout: the revision is rejected, and the next one is delivered once
// the repository is there.
func TestDeliveryTimesOut(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	s.Apply(s.Set(s.ClusterProviderConfig(), "http://127.0.0.1:1/nothing.git", "spec", "git", "url"))
	o := s.Set(s.Claim(claim, s.intent(1)), map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
	s.Set(o, "5s", "spec", "deliveryConfig", "deliveryTimeout")
	s.Apply(o)
	seen := s.Await(o, "DeliveryTimedOut", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "Stalled", corev1.ConditionTrue, "DeliveryTimedOut")
	})
	if message := scene.Field(seen, "status", "message"); !strings.Contains(message, "Revision 1 was rejected: DeliveryTimedOut. ") || !strings.Contains(message, "connection refused") {
		t.Errorf("the deployment says %q", message)
	}
	s.Apply(s.ClusterProviderConfig())
	seen = s.Succeed(s.Set(s.Set(o, s.intent(2), "spec", "intent"), "10m", "spec", "deliveryConfig", "deliveryTimeout"))
	if scene.Number(seen, "status", "revision") != 2 || !strings.Contains(s.FilesBelow(s.Directory("edge1", claim))["deployment-shop.yaml"], "replicas: 2") {
		t.Errorf("the next revision: %v", seen.Object["status"])
	}
}
