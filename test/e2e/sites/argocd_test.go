package sites

import (
	"testing"

	"github.com/intentplane/intentplane/test/e2e/sites/argocd"
	"github.com/intentplane/intentplane/test/e2e/sites/recording"
	"github.com/intentplane/intentplane/test/scene"
)

// TestArgoCD plays the story in which the compared revision is not the applied revision.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ArgoCD", "argoproj.io/v1alpha1", "Application", "edge1")
	argocd.Install(s.Scene)
	p := recording.Apply(s.Scene, "argocd-compared.json", s.Directory("edge1", claim))
	y := s.describeSync(1, "one")
	s.deliverRevision(1, "one")
	p.Commits["a"] = s.awaitDelivered(1)
	s.Apply(y)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing")
	argocd.Refresh(s.Scene, p.Main.Unstructured)
	p.PlayUntil("Applied")
	s.expectSiteSync(y, "1"+isLive)

	s.deliverRevision(2, "two")
	p.Commits["b"] = s.awaitDelivered(2)
	p.PlayUntil("ComparedNotApplied")
	y = s.describeSync(2, "two")
	s.Apply(y)
	argocd.Refresh(s.Scene, p.Main.Unstructured)
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "OutOfSync")
	p.PlayUntil("SyncedWhileRunning")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "an operation is running")
	p.PlayUntil("Succeeded")
	s.expectSiteSync(y, "2"+isLive)

	p.PlayUntil("Degraded")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.Commits["c"] = s.commit(map[string]string{"clusters/edge2/x": "y\n"})
	p.PlayUntil("StrangersCommit")
	s.expectSiteSync(y, "2"+isLive)
	p.PlayUntil("SyncFailed")
	s.expectSiteSync(y, "2 | False | Failed | Failed | EngineFailed")
}

// TestArgoCDStories validates the recordings of Argo CD against its own schema.
func TestArgoCDStories(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"argocd-compared.json", "argocd-hydrated.json", "argocd-sources.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := &stage{Scene: scene.New(t, cp)}
			argocd.Install(s.Scene)
			p := recording.Apply(s.Scene, file, s.Directory("edge1", claim))
			p.PlayAll()
		})
	}
}
