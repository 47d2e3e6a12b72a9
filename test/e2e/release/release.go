// Package release makes releases of this checkout.
package release

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// version is that of the releases. No release of the project has it.
	version = "v1.91.0"

	// oldVersion has a tag.
	oldVersion = "v1.90.0"
)

// A checkout is a copy of this checkout with one commit and the tag of an old version.
type checkout struct{ dir string }

// newCheckout copies the files that a commit of this checkout would have.
func newCheckout(t *testing.T, folder string) *checkout {
	t.Helper()
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := &checkout{dir: filepath.Join(t.TempDir(), folder)}
	list := runGit(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		copyFile(t, filepath.Join(root, name), filepath.Join(c.dir, name))
	}
	runGit(t, c.dir, "init", "-q")
	runGit(t, c.dir, "add", ".")
	runGit(t, c.dir, "commit", "-q", "-m", "copy")
	runGit(t, c.dir, "tag", oldVersion)
	return c
}

// copyFile copies a file, with its mode. A file that was removed since the commit is left out.
func copyFile(t *testing.T, source, target string) {
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
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", args[0], err)
	}
	return string(out)
}

// dist returns the path of a file of the release.
func (c *checkout) dist(elements ...string) string {
	return filepath.Join(append([]string{c.dir, "_output", "dist"}, elements...)...)
}

// makeRelease runs "make release" for the platform of this machine alone, and returns its output.
func (c *checkout) makeRelease(ctx context.Context, args ...string) (string, error) {
	return c.runMake(ctx, slices.Concat([]string{"release", "PLATFORMS=linux/" + runtime.GOARCH}, args)...)
}

// runMake runs make in the checkout, and returns its output.
func (c *checkout) runMake(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Dir = c.dir
	// This make has nothing to do with the one that runs the tests.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "MAKE") || strings.HasPrefix(entry, "MFLAGS=") || strings.HasPrefix(entry, "VERSION=")
	})
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A sigstore is the played services of Sigstore.
type sigstore struct {
	// log is the address of the transparency log.
	log string

	// cache is a folder for the packages that Crossplane pulls, in which Crossplane keeps its trust.
	cache string
}

// startSigstore starts the services, which end with the test.
func startSigstore(t *testing.T) sigstore {
	t.Helper()
	program, err := controlplane.ToolPath(t.Context(), "PLAYED_SIGSTORE")
	if err != nil {
		t.Fatal(err)
	}
	s := sigstore{cache: t.TempDir()}
	trust := filepath.Join(s.cache, ".sigstore", "root")
	if err := os.MkdirAll(trust, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "TUF_ROOT="+trust)
	problems := &bytes.Buffer{}
	cmd.Stderr = problems
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // The program ends in any case.
		if err := cmd.Wait(); err != nil {
			t.Errorf("the played Sigstore ended with %v: %s", err, problems)
		}
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the played Sigstore prints no address: %v: %s", err, problems)
	}
	s.log = strings.TrimSpace(line)
	return s
}

// writeKey writes a private key into a file.
func writeKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
