package disruption

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestSecretsStaySecret lets everything go wrong that has a password at hand, and then looks for it wherever anybody reads.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a9c"
	s := scene.New(t, cp, "edge1")
	srv := guarded(s, canary)
	claim := s.Claim("shop", intent(s, 1, "edge1"))
	srv.Fail(s.Namespace, http.StatusServiceUnavailable)
	s.Apply(claim)
	failing(s, deliveryv1alpha1.ReasonMemoryUnknown)
	s.Apply(secret(s, canary+"-wrong"))
	srv.Fail(s.Namespace, 0)
	failing(s, deliveryv1alpha1.ReasonAuthFailed)
	srv.FailPushes(s.Namespace, http.StatusForbidden)
	s.Apply(secret(s, canary))
	failing(s, deliveryv1alpha1.ReasonAuthFailed)
	srv.FailPushes(s.Namespace, 0)
	s.Succeed(claim)

	for name, text := range public(s) {
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

func failing(s *scene.Scene, want xpv2.ConditionReason) {
	s.T.Helper()
	s.AwaitDelivery("that fails: "+string(want), func(d *deliveryv1alpha1.GitDelivery) bool { return reason(d) == string(want) })
}

// public is all that others than who may read Secrets can read.
func public(s *scene.Scene) map[string]string {
	s.T.Helper()
	out := map[string]string{
		"events":         s.Run("get", "events", "-A", "-o", "yaml"),
		"GitDeliveries":  s.Run("get", "gitdeliveries", "-A", "-o", "yaml"),
		"deployments":    s.Run("get", "intentdeployments.claims.intentplane.dev,xintentdeployments,intentdeployments.intentplane.dev", "-A", "-o", "yaml"),
		"configurations": s.Run("get", "providerconfigs.config.intentplane.dev", "-A", "-o", "yaml"),
	}
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(cp.LogFile("provider")), "*.log"))
	if err != nil || len(logs) == 0 {
		s.T.Fatalf("cannot find logs: %v", err)
	}
	for _, l := range logs {
		b, err := os.ReadFile(l)
		if err != nil {
			s.T.Fatal(err)
		}
		out[filepath.Base(l)] = string(b)
	}
	return out
}
