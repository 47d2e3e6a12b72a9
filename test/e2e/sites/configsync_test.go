package sites

import (
	"testing"
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

	p := s.applyStory("configsync-commit.json")
	p.commits["a"] = s.awaitDelivered(1)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing")
	p.playUntil("Applied")
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing", "ResourceGroup")
	s.Patch(p.second.Unstructured, `{"status":{"observedGeneration":1,"resourceStatuses":[{"kind":"ConfigMap","namespace":"`+s.Namespace+`","name":"a","status":"Current"}]}}`, "status")
	s.expectSiteSync(y, "1"+isLive)

	// The next order: fetched and rendered are not applied, and applied is not healthy.
	s.deliverRevision(2, "two")
	p.commits["b"] = s.awaitDelivered(2)
	p.playUntil("NextRendered")
	y = s.describeSync(2, "two")
	s.Apply(y)
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "not at the same commit")
	p.playUntil("AppliedNotHealthy")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing")
	p.playUntil("ObjectFailed")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.playUntil("Healthy")
	s.expectSiteSync(y, "2"+isLive)

	// The third one: all stages are at its commit, but for an object that was changed since.
	s.deliverRevision(3, "three")
	p.commits["b"], p.commits["c"] = s.awaitDelivered(3), p.commits["b"]
	p.playUntil("StaleGeneration")
	y = s.describeSync(3, "three")
	s.Apply(y)
	s.lookAndExpect(y, "3 | False | Syncing | Syncing | Progressing", "has not seen the last change")
	s.Patch(p.main.Unstructured, `{"status":{"observedGeneration":2}}`, "status")
	s.expectSiteSync(y, "3"+isLive)
}
