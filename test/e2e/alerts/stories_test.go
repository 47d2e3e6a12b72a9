package alerts

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/alerting"
	"github.com/intentplane/intentplane/test/controlplane"
)

// TestAlertsFire verifies that each alert about a deployment, or about an object that it uses, fires on series that a real Prometheus server scraped from a real
// kube-state-metrics, the provider and the function, once a fault occurred. No other alert fires then, and none did before the fault.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	for name, scenario := range deploymentStories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newAlertStage(t).playAlertStory(scenario)
		})
	}
}

// TestInstallationAlertsFire does the same with each alert about the installation, one after another, while no other test runs.
func TestInstallationAlertsFire(t *testing.T) {
	for name, scenario := range installationStories() {
		t.Run(name, func(t *testing.T) {
			s := newAlertStage(t)
			t.Cleanup(func() {
				cp.KillProvider()
				s.Must(cp.StartProvider(context.Background(), controlplane.Program{}))
				s.Must(cp.UpgradeFunction(context.Background(), ""))
			})
			s.playAlertStory(scenario)
		})
	}
}

// TestEachAlertHasStory shows that no alert is without a story.
func TestEachAlertHasStory(t *testing.T) {
	// Canaries need a gateway, and are in the stories of test/e2e/canary.
	covered := []string{"CanaryAwaitsAUser"}
	for _, all := range []map[string]story{deploymentStories(), installationStories()} {
		for _, s := range all {
			covered = append(covered, s.alerts...)
		}
	}
	shipped := map[string]bool{}
	for _, a := range alerting.ReadAlerts(t) {
		shipped[a.Name] = true
	}
	slices.Sort(covered)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(shipped)), slices.Compact(covered)); diff != "" {
		t.Errorf("shipped alerts, and alerts that fire in stories: -shipped, +fired:\n%s", diff)
	}
}
