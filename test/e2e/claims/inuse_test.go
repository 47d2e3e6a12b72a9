package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestDeletedInUse deletes the configuration of a claim. Its status names the objects that its deletion waits for, and it
// is deleted with the claim.
func TestDeletedInUse(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	claim := s.Claim("shop", runIntent(s, 1, "edge1"))
	s.Succeed(claim)
	config := s.ProviderConfig()
	s.Delete(config)
	observed := s.Await(config, "Terminating", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Terminating", corev1.ConditionTrue, "InUse")
	})
	user := s.Namespace + "/" + s.Delivery().GetName()
	if message := scene.Condition(observed, "Terminating").Message; !strings.Contains(message, user) {
		t.Errorf("message of Terminating: want GitDelivery %s in it, got %q", user, message)
	}
	s.Until("an event on the configuration", patience.Limit, func() bool {
		return strings.Contains(s.Inside("get", "events", "--field-selector", "reason=InUse,involvedObject.kind=ProviderConfig"), user)
	})
	s.Delete(claim)
	s.Gone(claim)
	s.Gone(config)
}
