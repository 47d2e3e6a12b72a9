package claims

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// awaitBlocked waits until a deployment is Stalled, for a reason of the GitDelivery.
func awaitBlocked(s *scene.Scene, o *unstructured.Unstructured, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Reach(o, "Stalled for "+reason, func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Stalled", corev1.ConditionTrue, "DeliveryRefused") && scene.Is(u, "Ready", corev1.ConditionFalse, "") &&
			strings.Contains(scene.Condition(u, "Stalled").Message, reason+": ")
	})
}
