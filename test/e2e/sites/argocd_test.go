package sites

import (
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// TestArgoCD plays the story in which the compared revision is not the applied revision.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ArgoCD", "argoproj.io/v1alpha1", "Application", "edge1")
	s.installArgoCD()
	p := s.applyStory("argocd-compared.json")
	y := s.describeSync(1, "one")
	s.deliverRevision(1, "one")
	p.commits["a"] = s.awaitDelivered(1)
	s.Apply(y)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing")
	p.awaitCompare()
	p.playUntil("Applied")
	s.expectSiteSync(y, "1"+isLive)

	s.deliverRevision(2, "two")
	p.commits["b"] = s.awaitDelivered(2)
	p.playUntil("ComparedNotApplied")
	y = s.describeSync(2, "two")
	s.Apply(y)
	p.awaitCompare()
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "OutOfSync")
	p.playUntil("SyncedWhileRunning")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "an operation is running")
	p.playUntil("Succeeded")
	s.expectSiteSync(y, "2"+isLive)

	p.playUntil("Degraded")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.commits["c"] = s.commit(map[string]string{"clusters/edge2/x": "y\n"})
	p.playUntil("StrangersCommit")
	s.expectSiteSync(y, "2"+isLive)
	p.playUntil("SyncFailed")
	s.expectSiteSync(y, "2 | False | Failed | Failed | EngineFailed")
}

// TestArgoCDStories validates the recordings of Argo CD against its own schema.
func TestArgoCDStories(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"argocd-compared.json", "argocd-hydrated.json", "argocd-sources.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := &stage{Scene: scene.New(t, cp)}
			s.installArgoCD()
			p := s.applyStory(file)
			p.playUntil(p.story.Steps[len(p.story.Steps)-1].Name)
		})
	}
}
