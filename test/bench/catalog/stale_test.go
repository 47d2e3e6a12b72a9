package catalog

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeFiles writes files into a directory, each with its folders.
func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// commitAll commits all files of a repository, and returns the commit.
func commitAll(t *testing.T, root string) string {
	t.Helper()
	runGit(t, root, "add", "-A")
	runGit(t, root, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-qm", "files")
	return runGit(t, root, "rev-parse", "HEAD")
}

func runGit(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// TestStaleFigures changes files after figures were measured.
func TestStaleFigures(t *testing.T) {
	root := t.TempDir()
	runGit(t, root, "init", "-q")
	writeFiles(t, root, map[string]string{
		"go.mod":          "module example.org/project\n\ngo 1.26\n",
		"main.go":         "package main\n\nimport _ \"example.org/project/used\"\n\nfunc main() {}\n",
		"used/used.go":    "package used\n",
		"unused/other.go": "package unused\n",
	})
	first := commitAll(t, root)
	writeFiles(t, root, map[string]string{"unused/other.go": "package unused\n\nvar A = 1\n", "used/used_test.go": "package used\n", "used/page.md": "text\n"})
	second := commitAll(t, root)
	writeFiles(t, root, map[string]string{"used/used.go": "package used\n\nvar A = 1\n", "package/provider.yaml": "a: 1\n"})
	third := commitAll(t, root)

	all := Figures{
		{Name: "first", Measured: &Measurement{Commit: first}},
		{Name: "second", Measured: &Measurement{Commit: second}},
		{Name: "third", Measured: &Measurement{Commit: third}},
		{Name: "lost", Measured: &Measurement{Commit: "f5185f7c"}},
		{Name: "never"},
	}
	got, err := NewCheckout(root).Stale(t.Context(), all, func(string) []string { return []string{"."} })
	want := []Stale{{Name: "first", Changed: []string{"package", "used"}}, {Name: "second", Changed: []string{"package", "used"}}, {Name: "lost"}, {Name: "never"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("A figure is stale when a package of its program changed, no test, page or other package: %v, -want, +got:\n%s", err, diff)
	}
}
