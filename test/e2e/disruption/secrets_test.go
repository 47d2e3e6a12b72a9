package disruption

import (
	"net/http"
	"strings"
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestSecretsStaySecret causes all failures with a password in reach, and then searches it in all readable places.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a9c"
	s := scene.New(t, cp, "edge1")
	srv := guardServer(s, canary)
	claim := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
	srv.Fail(s.Namespace, http.StatusServiceUnavailable)
	s.Apply(claim)
	failingClaim(s, deliveryv1alpha1.ReasonMemoryUnknown)
	s.Apply(s.BasicAuthSecret(canary + "-wrong"))
	srv.Fail(s.Namespace, 0)
	failingClaim(s, deliveryv1alpha1.ReasonAuthFailed)
	srv.FailPushes(s.Namespace, http.StatusForbidden)
	s.Apply(s.BasicAuthSecret(canary))
	failingClaim(s, deliveryv1alpha1.ReasonAuthFailed)
	srv.FailPushes(s.Namespace, 0)
	s.Succeed(claim)

	for name, text := range readablePublicly(s) {
		if strings.Contains(text, canary) {
			t.Errorf("the password is in %s", name)
		}
	}
	log, err := srv.Git(t.Context(), s.Namespace, "log", "--all", "-p")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log, canary) {
		t.Error("the password is in the repository")
	}
}
