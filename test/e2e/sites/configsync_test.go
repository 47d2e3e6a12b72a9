package sites

import (
	"testing"
)

// TestConfigSync begins before Config Sync is installed. Its kinds are written from its documented fields.
func TestConfigSync(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ConfigSync", "configsync.gke.io/v1beta1", "RootSync", "root-sync")
	y := s.sync(1, "one")
	s.Apply(y)
	s.deliver(1, "one")
	s.look(y, "1 | False | Syncing | Syncing | EngineNotInstalled")
	s.must(s.ControlPlane.Apply(t.Context(), "manifests/configsync.yaml"))
	s.look(y, "1 | False | Syncing | Syncing | EngineObjectMissing")

	p := s.play("configsync-commit.json")
	p.commits["a"] = s.delivered(1)
	s.look(y, "1 | False | Syncing | Syncing | Progressing")
	p.tell("Applied")
	s.look(y, "1 | False | Syncing | Syncing | Progressing", "ResourceGroup")
	s.Patch(p.second.Unstructured, `{"status":{"observedGeneration":1,"resourceStatuses":[{"kind":"Deployment","name":"web","status":"Current"}]}}`, "status")
	s.expect(y, "1"+isLive)

	// The next order: fetched and rendered are not applied, and applied is not healthy.
	s.deliver(2, "two")
	p.commits["b"] = s.delivered(2)
	p.tell("NextRendered")
	y = s.sync(2, "two")
	s.Apply(y)
	s.look(y, "2 | False | Syncing | Syncing | Progressing", "not at the same commit")
	p.tell("AppliedNotHealthy")
	s.look(y, "2 | False | Syncing | Syncing | Progressing")
	p.tell("ObjectFailed")
	s.look(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.tell("Healthy")
	s.expect(y, "2"+isLive)

	// The third one: all stages are at its commit, but for an object that was changed since.
	s.deliver(3, "three")
	p.commits["b"], p.commits["c"] = s.delivered(3), p.commits["b"]
	p.tell("StaleGeneration")
	y = s.sync(3, "three")
	s.Apply(y)
	s.look(y, "3 | False | Syncing | Syncing | Progressing", "has not seen the last change")
	s.Patch(p.main.Unstructured, `{"status":{"observedGeneration":2}}`, "status")
	s.expect(y, "3"+isLive)
}
