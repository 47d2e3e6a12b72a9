package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	const commit, other = "c0ffee", "decade"
	cases := map[string]struct {
		reason   string
		version  string
		checkout Checkout
		rebuild  bool
		want     string
	}{
		"Clean":       {reason: "A clean checkout without the tag is released.", version: "v0.1.0", checkout: Checkout{Commit: commit}},
		"Candidate":   {reason: "A pre-release is a version.", version: "v0.1.0-rc.1", checkout: Checkout{Commit: commit}},
		"NoVersion":   {reason: "The user names the version.", want: "name its version"},
		"NoV":         {reason: "A version begins with v.", version: "0.1.0", want: `version "0.1.0": want a semantic version`},
		"TwoNumbers":  {reason: "A version has three numbers.", version: "v0.1", want: `version "v0.1": want`},
		"LeadingZero": {reason: "A number has no leading zero.", version: "v0.01.0", want: "want a semantic version"},
		"Metadata":    {reason: "The tag of an image has no plus sign.", version: "v0.1.0+build", want: "want a semantic version"},
		"Shell":       {reason: "A text that is no version gets into no command.", version: "v0.1.0;ls", want: "want a semantic version"},
		"Dirty": {
			reason:  "A change that no commit has is refused by its path.",
			version: "v0.1.0", checkout: Checkout{Changes: []string{"main.go"}}, want: "main.go differs",
		},
		"ManyChanges": {
			reason:  "The number of further changes is given.",
			version: "v0.1.0", checkout: Checkout{Changes: []string{"a", "b", "c"}}, want: "a (and 2 more) differs",
		},
		"Unchecked": {
			reason:  "A file whose changes Git does not report may have some.",
			version: "v0.1.0", checkout: Checkout{Unchecked: []string{"main.go"}}, want: "Git does not report changes of main.go",
		},
		"Exists": {
			reason:  "A version that exists is refused.",
			version: "v0.1.0", checkout: Checkout{Commit: commit, Tagged: other}, want: "tag v0.1.0 exists, of commit decade",
		},
		"ExistsHere": {
			reason:  "A version that exists is refused at its own commit.",
			version: "v0.1.0", checkout: Checkout{Commit: commit, Tagged: commit}, want: "REBUILD=1",
		},
		"Rebuild": {
			reason:  "The files of a version are made again from its tag.",
			version: "v0.1.0", rebuild: true, checkout: Checkout{Commit: commit, Tagged: commit},
		},
		"RebuildMoved": {
			reason:  "Another commit than that of the tag is no rebuild.",
			version: "v0.1.0", rebuild: true, checkout: Checkout{Commit: commit, Tagged: other}, want: "check out the tag",
		},
		"RebuildNew": {
			reason:  "A version without a tag cannot be rebuilt.",
			version: "v0.1.0", rebuild: true, checkout: Checkout{Commit: commit}, want: "tag v0.1.0 does not exist",
		},
		"RebuildDirty": {
			reason:  "A rebuild has no changes.",
			version: "v0.1.0", rebuild: true, checkout: Checkout{Changes: []string{"a"}, Commit: commit, Tagged: commit}, want: "a differs",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			message := ""
			if err := tc.checkout.Check(tc.version, tc.rebuild); err != nil {
				message = err.Error()
			}
			if (message == "") != (tc.want == "") || !strings.Contains(message, tc.want) {
				t.Errorf("\n%s\nCheck(%q): want %q, got %q", tc.reason, tc.version, tc.want, message)
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(t.Context(), dir, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "without a commit") {
		t.Errorf("A folder that is no checkout has nothing to release: %v", err)
	}
	writeFile(t, dir, "main.go", "package main\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "a")
	commit := git(t, dir, "rev-parse", "HEAD")
	for _, tag := range [][]string{{"tag", "v0.1.0"}, {"tag", "-a", "-m", "a", "v0.2.0"}} {
		git(t, dir, tag...)
	}
	want := Checkout{Commit: commit, Time: time.Unix(1700000000, 0).UTC()}
	compareCheckouts(t, "A tag of another version is no tag of this one.", dir, "v0.1", want)
	want.Tagged = commit
	compareCheckouts(t, "A tag has the commit that it names.", dir, "v0.1.0", want)
	compareCheckouts(t, "An annotated tag has the commit that it leads to.", dir, "v0.2.0", want)
	writeFile(t, dir, "main.go", "package changed\n")
	writeFile(t, dir, "docs/a file\n.md", "new")
	want.Changes = []string{"main.go", "docs/a file\n.md"}
	compareCheckouts(t, "A changed file and a new file are changes.", dir, "v0.1.0", want)
}

// TestReadHidden changes files that "git status" does not show.
func TestReadHidden(t *testing.T) {
	cases := map[string]struct {
		reason string
		// hide changes a checkout whose commit has main.go, and ignores folder built.
		hide func(t *testing.T, dir string)
		want Checkout
	}{
		"IgnoredByCommit": {
			reason: "A file that the commit ignores is not a part of a release.",
			hide:   func(t *testing.T, dir string) { t.Helper(); writeFile(t, dir, "built/a.go", "package built\n") },
		},
		"IgnoredHere": {
			reason: "A file that the settings of this machine ignore is compiled.",
			hide: func(t *testing.T, dir string) {
				t.Helper()
				writeFile(t, dir, ".git/info/exclude", "local.go\n")
				writeFile(t, dir, "local.go", "package main\n")
			},
			want: Checkout{Changes: []string{"local.go"}},
		},
		"IgnoredByItself": {
			reason: "A file that a .gitignore without a commit hides, together with itself, is compiled.",
			hide: func(t *testing.T, dir string) {
				t.Helper()
				writeFile(t, dir, "local/.gitignore", "*\n")
				writeFile(t, dir, "local/local.go", "package local\n")
			},
			want: Checkout{Changes: []string{"local/.gitignore", "local/local.go"}},
		},
		"IgnoredBelowCommit": {
			reason: "A folder that the commit ignores may have a .gitignore of its own.",
			hide:   func(t *testing.T, dir string) { t.Helper(); writeFile(t, dir, "built/.gitignore", "*\n") },
		},
		"AssumeUnchanged": {
			reason: "A file that Git takes as unchanged is named.",
			hide: func(t *testing.T, dir string) {
				t.Helper()
				git(t, dir, "update-index", "--assume-unchanged", "main.go")
			},
			want: Checkout{Unchecked: []string{"main.go"}},
		},
		"SkipWorktree": {
			reason: "A file of which Git skips the working copy is named.",
			hide:   func(t *testing.T, dir string) { t.Helper(); git(t, dir, "update-index", "--skip-worktree", "main.go") },
			want:   Checkout{Unchecked: []string{"main.go"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "main.go", "package main\n")
			writeFile(t, dir, ".gitignore", "# The output.\n\n/built/\n")
			git(t, dir, "init", "-q")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "a")
			tc.hide(t, dir)
			got, err := Read(t.Context(), dir, "v0.1.0")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, Checkout{Changes: got.Changes, Unchecked: got.Unchecked}); diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func compareCheckouts(t *testing.T, reason, dir, version string, want Checkout) {
	t.Helper()
	got, err := Read(t.Context(), dir, version)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\n%s\nRead(%s): -want, +got:\n%s", reason, version, diff)
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}
