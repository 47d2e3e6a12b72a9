package claims

import (
	"github.com/intentplane/intentplane/test/scene"
)

// commitDrift changes the claim's directory with an unmanaged commit, and returns the commit.
func commitDrift(s *scene.Scene, files map[string]string) string {
	s.T.Helper()
	changes := map[string]string{}
	for name, content := range files {
		changes[s.Directory("edge1", "shop")+"/"+name] = content
	}
	id, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", changes, "Meddle")
	s.Must(err)
	return id
}
