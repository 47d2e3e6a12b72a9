// Package checkout copies this checkout, and makes releases of the copy.
package checkout

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// OldVersion has a tag in each copy.
const OldVersion = "v0.0.1"

// A Checkout is a copy of this checkout with one commit and the tag of an old version.
type Checkout struct {
	// Dir is the root of the copy.
	Dir string
}

// Copy copies the files that a commit of this checkout would have into a folder of this name, which the end of the test removes.
func Copy(t *testing.T, folder string) *Checkout {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := &Checkout{Dir: filepath.Join(t.TempDir(), folder)}
	list := runGit(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		CopyFile(t, filepath.Join(root, name), filepath.Join(c.Dir, name))
	}
	runGit(t, c.Dir, "init", "-q")
	runGit(t, c.Dir, "add", "--force", ".")
	runGit(t, c.Dir, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "copy")
	runGit(t, c.Dir, "tag", OldVersion)
	return c
}

// CopyFile copies a file, with its mode. A file that was removed since the commit is left out.
func CopyFile(t *testing.T, source, target string) {
	t.Helper()
	info, err := os.Stat(source)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, content, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}

// runGit runs git with a user of its own and a fixed time: two copies have one commit.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(
		os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// Dist returns the path of a file of the release, or of its folder.
func (c *Checkout) Dist(elements ...string) string {
	return filepath.Join(append([]string{c.Dir, "_output", "dist"}, elements...)...)
}

// MakeRelease runs "make release" for the platform of this machine alone, and returns its output.
func (c *Checkout) MakeRelease(ctx context.Context, args ...string) (string, error) {
	return c.Make(ctx, slices.Concat([]string{"release", "PLATFORMS=linux/" + runtime.GOARCH}, args)...)
}

// Make runs make in the checkout, and returns its output.
func (c *Checkout) Make(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Dir = c.Dir
	// This make has nothing to do with the make that runs the tests.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "MAKE") || strings.HasPrefix(entry, "MFLAGS=") || strings.HasPrefix(entry, "VERSION=")
	})
	out, err := cmd.CombinedOutput()
	return string(out), err
}
