package claims

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/test/scene"
)

func TestAllSupported(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	observed := s.Succeed(s.Claim("shop", runIntent(s, 2, "edge1")))
	if !scene.Is(observed, "Supported", corev1.ConditionTrue, "Supported") {
		t.Errorf("Supported of a plain claim is %v", scene.Condition(observed, "Supported"))
	}
}
