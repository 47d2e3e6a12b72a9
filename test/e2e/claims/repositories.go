package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

// deleteAndWantFirstState deletes the claim, and checks that both repositories are as at first.
func deleteAndWantFirstState(t *testing.T, s *scene.Scene, otherRepository, name string) {
	t.Helper()
	claim := s.Claim(name, "")
	s.Delete(claim)
	s.Gone(claim)
	for _, repo := range []string{s.Namespace, otherRepository} {
		files, err := s.Git.Files(t.Context(), repo, "main")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"README.md"}, scene.Names(files)); diff != "" {
			t.Errorf("files of %s after the end: -want, +got:\n%s", repo, diff)
		}
	}
}
