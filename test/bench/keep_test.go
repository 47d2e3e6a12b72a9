package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/series"
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
			root := newProject(t)
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

// TestKeepFigureOfChangedCode keeps a figure after its run began with the first commit.
func TestKeepFigureOfChangedCode(t *testing.T) {
	cases := map[string]struct {
		reason  string
		changed string
		commits bool
		err     string
	}{
		"Same":      {reason: "The code is that of the commit."},
		"Docs":      {reason: "A commit of documentation changes no code.", changed: "docs/performance.md", commits: true},
		"Commit":    {reason: "A commit of code in the meantime leaves the value without one.", changed: "main.go", commits: true, err: "run began: main.go"},
		"Edit":      {reason: "An edit in the meantime leaves the value without a commit.", changed: "main.go", err: "run began: M main.go"},
		"Untracked": {reason: "A file that git does not know may be compiled.", changed: "more.go", err: "run began: ?? more.go"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := newProject(t)
			k, err := newKeeper(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			if tc.changed != "" {
				writeFile(t, root, tc.changed, "changed\n")
			}
			if tc.commits {
				commitAll(t, root)
			}
			message := ""
			if err := k.recordFigure(t.Context(), "a_s", 4, series.Effort{Took: time.Minute}); err != nil {
				message = err.Error()
			}
			if !strings.HasSuffix(message, tc.err) || (message == "") != (tc.err == "") {
				t.Errorf("\n%s\nkeepFigure(...): want %q, got %q", tc.reason, tc.err, message)
			}
			all, err := catalog.Read(root)
			if err != nil || (all[0].Measured != nil) != (tc.err == "") {
				t.Errorf("\n%s\nthe catalog after keepFigure(...): %+v, %v", tc.reason, all, err)
			}
		})
	}
}

// newProject returns the directory of a repository with a program and a catalog.
func newProject(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	writeFile(t, root, "main.go", "package main\n")
	writeFile(t, root, catalog.File, `[{"name": "a_s", "unit": "s", "about": "a time"}]`)
	runGit(t, root, "init", "-q")
	commitAll(t, root)
	return root
}

func commitAll(t *testing.T, root string) {
	t.Helper()
	runGit(t, root, "add", "-A")
	runGit(t, root, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-qm", "files")
}

func runGit(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
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
