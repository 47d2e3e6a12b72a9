package sites

import (
	"testing"

	"github.com/intentplane/intentplane/test/e2e/sites/recording"
)

// TestConfigSync begins before Config Sync is installed. Its kinds are written from its documented fields.
func TestConfigSync(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ConfigSync", "configsync.gke.io/v1beta1", "RootSync", "root-sync")
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | EngineNotInstalled")
	s.Must(s.ControlPlane.Apply(t.Context(), "manifests/configsync.yaml"))
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | EngineObjectMissing")

	p := recording.Apply(s.Scene, "configsync-commit.json", s.Directory("edge1", claim))
	p.Commits["a"] = s.awaitDelivered(1)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing")
	p.PlayUntil("Applied")
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing", "ResourceGroup")
	s.Patch(p.Second.Unstructured, `{"status":{"observedGeneration":1,"resourceStatuses":[{"kind":"ConfigMap","namespace":"`+s.Namespace+`","name":"a","status":"Current"}]}}`, "status")
	s.expectSiteSync(y, "1"+isLive)

	// The next order: fetched and rendered are not applied, and applied is not healthy.
	s.deliverRevision(2, "two")
	p.Commits["b"] = s.awaitDelivered(2)
	p.PlayUntil("NextRendered")
	y = s.describeSync(2, "two")
	s.Apply(y)
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "not at the same commit")
	p.PlayUntil("AppliedNotHealthy")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing")
	p.PlayUntil("ObjectFailed")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.PlayUntil("Healthy")
	s.expectSiteSync(y, "2"+isLive)

	// The third one: all stages are at its commit, but for an object that was changed since.
	s.deliverRevision(3, "three")
	p.Commits["b"], p.Commits["c"] = s.awaitDelivered(3), p.Commits["b"]
	p.PlayUntil("StaleGeneration")
	y = s.describeSync(3, "three")
	s.Apply(y)
	s.lookAndExpect(y, "3 | False | Syncing | Syncing | Progressing", "has not seen the last change")
	s.Patch(p.Main.Unstructured, `{"status":{"observedGeneration":2}}`, "status")
	s.expectSiteSync(y, "3"+isLive)
}
