package claims

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// commitUnmanaged commits files that only other tools write: programs, links, odd names, directories beside and around ours.
func commitUnmanaged(t *testing.T, s *scene.Scene) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) {
		s.Program("", "git", append([]string{"-C", dir, "-c", "user.name=A Stranger", "-c", "user.email=stranger@example.org"}, args...)...)
	}
	s.Program("", "git", "clone", "--quiet", s.Git.URL(s.Namespace), dir)
	for path, mode := range map[string]os.FileMode{
		"bin/run.sh":                                          0o755,
		"clusters/edge1/kustomization.yaml":                   0o644,
		"clusters/edge1/" + s.Namespace + "/README.md":        0o644,
		"clusters/edge1/" + s.Namespace + "/shop-old/run.sh":  0o755,
		"clusters/edge1/other-team/shop/deployment-shop.yaml": 0o644,
		"clusters/edge10/a b\u00e4.txt":                       0o644,
	} {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("# "+path+"\r\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../bin/run.sh", filepath.Join(dir, "clusters", "edge1", "link")); err != nil {
		t.Fatal(err)
	}
	git("add", "--all")
	git("commit", "--quiet", "--message", "Files of other writers")
	git("push", "--quiet", "origin", "HEAD:main")
}
