package disruption

import (
	"os"
	"path/filepath"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

func failingClaim(s *scene.Scene, want xpv2.ConditionReason) {
	s.T.Helper()
	s.AwaitDelivery("that fails: "+string(want), func(d *deliveryv1alpha1.GitDelivery) bool { return reasonOfReady(d) == string(want) })
}

// readablePublicly is all that others than who may read Secrets can read.
func readablePublicly(s *scene.Scene) map[string]string {
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
		s.Must(err)
		out[filepath.Base(l)] = string(b)
	}
	return out
}
