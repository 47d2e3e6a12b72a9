package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// signedFiles are the files of a signed release, which an unsigned one does not have, or has without the signed files.
var signedFiles = []string{"checksums.txt", "checksums.txt.sig", "cosign.pub", "provenance.intoto.jsonl", "verification.yaml"}

// digestsOf returns the digests of the files of a folder, by their paths.
func digestsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(content)
		name, err := filepath.Rel(dir, path)
		out[name] = hex.EncodeToString(digest[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// topFiles leaves out the folder of packages.
func topFiles(digests map[string]string) map[string]string {
	out := map[string]string{}
	for name, digest := range digests {
		if !strings.Contains(name, string(filepath.Separator)) {
			out[name] = digest
		}
	}
	return out
}

// wantFiles holds a signed release to its files, and its list of checksums to them.
func wantFiles(t *testing.T, c *checkout) {
	t.Helper()
	platform := "_" + version + "_linux_" + runtime.GOARCH
	want := map[string]bool{}
	for _, name := range append([]string{
		"configuration-intentplane_" + version + ".xpkg", "configuration-intentplane-applications_" + version + ".xpkg",
		"configuration-intentplane-namespaced_" + version + ".xpkg", "function-intentplane" + platform + ".xpkg", "provider-intentplane" + platform + ".xpkg",
		"kubectl-intent" + platform + ".tar.gz", "install.yaml", "intent.yaml", "provenance.json",
		"function-intentplane.spdx.json", "provider-intentplane.spdx.json", "kubectl-intent.spdx.json",
	}, signedFiles...) {
		want[name] = true
	}
	digests := topFiles(digestsOf(t, c.dist()))
	got := map[string]bool{}
	for name := range digests {
		got[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The files of a release: -want, +got:\n%s", diff)
	}
	delete(digests, "checksums.txt")
	delete(digests, "checksums.txt.sig")
	listed := map[string]string{}
	for line := range strings.Lines(readFile(t, c.dist("checksums.txt"))) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = digest
	}
	if diff := cmp.Diff(digests, listed); diff != "" {
		t.Errorf("The list of checksums has each file: -want, +got:\n%s", diff)
	}
}

// wantSignature verifies the signature of the checksums with Go's own library.
func wantSignature(t *testing.T, c *checkout) {
	t.Helper()
	block, _ := pem.Decode([]byte(readFile(t, c.dist("cosign.pub"))))
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(readFile(t, c.dist("checksums.txt.sig")))
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(readFile(t, c.dist("checksums.txt"))))
	if !ecdsa.VerifyASN1(public.(*ecdsa.PublicKey), digest[:], signature) {
		t.Error("The checksums are signed by the key")
	}
}

// wantPlugin unpacks the plugin and asks it for its version.
func wantPlugin(t *testing.T, c *checkout) {
	t.Helper()
	archive, err := os.Open(c.dist("kubectl-intent_" + version + "_linux_" + runtime.GOARCH + ".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }() // It is only read.
	plain, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "kubectl-intent")
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != filepath.Base(program) {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, content, fs.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
		break
	}
	wantVersion(t, program)
}

// wantVersion asks a program for its version.
func wantVersion(t *testing.T, program string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("%s --version: want %s, got %v: %s", program, version, err, out)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
