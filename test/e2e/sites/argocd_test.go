package sites

import (
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// TestArgoCD tells the story in which the revision that was compared is not the one that was applied.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ArgoCD", "argoproj.io/v1alpha1", "Application", "edge1")
	s.installArgoCD()
	p := s.play("argocd-compared.json")
	y := s.sync(1, "one")
	s.deliver(1, "one")
	p.commits["a"] = s.delivered(1)
	s.Apply(y)
	s.look(y, "1 | False | Syncing | Syncing | Progressing")
	p.compare()
	p.tell("Applied")
	s.expect(y, "1"+isLive)

	s.deliver(2, "two")
	p.commits["b"] = s.delivered(2)
	p.tell("ComparedNotApplied")
	y = s.sync(2, "two")
	s.Apply(y)
	p.compare()
	s.look(y, "2 | False | Syncing | Syncing | Progressing", "OutOfSync")
	p.tell("SyncedWhileRunning")
	s.look(y, "2 | False | Syncing | Syncing | Progressing", "an operation is running")
	p.tell("Succeeded")
	s.expect(y, "2"+isLive)

	p.tell("Degraded")
	s.look(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.commits["c"] = s.commit(map[string]string{"clusters/edge2/x": "y\n"})
	p.tell("StrangersCommit")
	s.expect(y, "2"+isLive)
	p.tell("SyncFailed")
	s.expect(y, "2 | False | Failed | Failed | EngineFailed")
}

// TestArgoCDStories holds what is recorded of Argo CD against its own schema.
func TestArgoCDStories(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"argocd-compared.json", "argocd-hydrated.json", "argocd-sources.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := &stage{Scene: scene.New(t, cp)}
			s.installArgoCD()
			p := s.play(file)
			p.tell(p.story.Steps[len(p.story.Steps)-1].Name)
		})
	}
}
