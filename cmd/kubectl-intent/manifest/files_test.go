package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// writeTestFiles writes files below a folder, by their paths.
func writeTestFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		target := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManifestsIn(t *testing.T) {
	t.Chdir(t.TempDir())
	writeTestFiles(t, ".", map[string]string{"a/z.yaml": "", "a/b/c.yml": "", "a/b/d.json": "", "a/notes.md": "", "a/.git/e.yaml": "", "f.txt": ""})
	cases := map[string]struct {
		reason string
		path   string
		want   []string
	}{
		"Directory": {
			reason: "A directory stands for its manifests and the manifests of the directories below it, except for hidden directories.",
			path:   "a", want: []string{"a/b/c.yml", "a/b/d.json", "a/z.yaml"},
		},
		"Hidden":  {reason: "A hidden directory that is named is read.", path: "a/.git", want: []string{"a/.git/e.yaml"}},
		"File":    {reason: "A file that is named is read whatever its name is.", path: "f.txt", want: []string{"f.txt"}},
		"Missing": {reason: "A file that does not exist is for the reader to report.", path: "nowhere.yaml", want: []string{"nowhere.yaml"}},
		"Stdin":   {reason: "The standard input is not a directory.", path: "-", want: []string{"-"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.FilesIn(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmanifestsIn(%q): -want, +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

// TestDirectories gives commands a directory where they take a file.
func TestDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	wrong := strings.Replace(cli.Claim, "intent:", "intnt:", 1)
	writeTestFiles(t, ".", map[string]string{"good/team/claim.yaml": cli.Claim, "bad/a.yaml": cli.Claim, "bad/team/b.yaml": wrong, "none/readme.md": "x"})
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		"Validate": {reason: "All manifests of a directory are validated.", args: []string{"validate", "good"}, says: "1 object, 0 mistakes\n"},
		"Mistake": {
			reason: "A mistake is reported with the file that it is in.",
			args:   []string{"validate", "bad"}, code: terminal.ExitInvalid,
			says: "bad/team/b.yaml:5: IntentDeployment team-a/shop: InvalidSpec: spec.intnt: ",
		},
		"Empty": {
			reason: "A directory without manifests is warned of.",
			args:   []string{"validate", "none"}, says: "none:1: warning: Empty: the directory has no file whose name ends in .yaml, .yml or .json\n",
		},
		"Digest": {reason: "Other commands take a directory too.", args: []string{"digest", "good"}, says: "sha256:"},
		"Decode": {
			reason: "A malformed document is reported with its file.",
			args:   []string{"digest", "bad"}, code: terminal.ExitInvalid, says: "cannot decode document 1 of bad/team/b.yaml: ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent("", tc.args...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
		})
	}
}
