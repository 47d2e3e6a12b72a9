package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMeasuredCommit changes files of a repository, and compares the commit that is recorded with a figure.
func TestMeasuredCommit(t *testing.T) {
	cases := map[string]struct {
		reason  string
		changed string
		want    bool
	}{
		"Clean":   {reason: "The code is that of the commit.", want: true},
		"Catalog": {reason: "The catalog changes with each figure that is kept.", changed: "docs/figures.json", want: true},
		"Code":    {reason: "A change that no commit has belongs to none.", changed: "main.go"},
		"New":     {reason: "A file that git does not know may be compiled.", changed: "more.go"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, root, "main.go", "package main\n")
			writeFile(t, root, "docs/figures.json", "[]\n")
			for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-qm", "files"}} {
				cmd := exec.CommandContext(t.Context(), "git", args...)
				cmd.Dir = root
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			if tc.changed != "" {
				writeFile(t, root, tc.changed, "changed\n")
			}
			commit, err := measuredCommit(t.Context(), root)
			if err != nil || (commit != "") != tc.want {
				t.Errorf("\n%s\nmeasuredCommit(...): want a commit: %t, got %q, %v", tc.reason, tc.want, commit, err)
			}
		})
	}
}

func writeFile(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
