package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/checkout"
	"github.com/intentplane/intentplane/test/typed"
)

// signedFiles are the files of a signed release, which an unsigned one does not have, or has without the signed files.
var signedFiles = []string{"checksums.txt", "checksums.txt.sig", "cosign.pub", "provenance.intoto.jsonl", "verification.yaml"}

// digestFiles returns the digests of the files of a folder, by their paths.
func digestFiles(t *testing.T, dir string) map[string]string {
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

// topLevelFiles leaves out the folder of packages.
func topLevelFiles(digests map[string]string) map[string]string {
	out := map[string]string{}
	for name, digest := range digests {
		if !strings.Contains(name, string(filepath.Separator)) {
			out[name] = digest
		}
	}
	return out
}

// wantReleaseFiles holds a signed release to its files, and its list of checksums to them.
func wantReleaseFiles(t *testing.T, c *checkout.Checkout) {
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
	digests := topLevelFiles(digestFiles(t, c.Dist()))
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
	for line := range strings.Lines(readFileText(t, c.Dist("checksums.txt"))) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = digest
	}
	if diff := cmp.Diff(digests, listed); diff != "" {
		t.Errorf("The list of checksums has each file: -want, +got:\n%s", diff)
	}
}

// verificationPage has the commands with which a user verifies the files of a release.
const verificationPage = "docs/releases.md"

// wantVerifiedFiles types the commands of the page, which use programs of this machine. They refuse a changed file, and a changed list of checksums.
func wantVerifiedFiles(t *testing.T, c *checkout.Checkout) {
	t.Helper()
	blocks, err := typed.Blocks(verificationPage, readFileText(t, filepath.Join(c.Dir, verificationPage)))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(blocks, func(b typed.Block) bool { return b.Section == "Verifying files" })
	if i < 0 {
		t.Fatalf("%s has no block with commands that verify files", verificationPage)
	}
	verify := func(dir string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", blocks[i].Text)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(c.Dist()); err != nil || !strings.Contains(out, "install.yaml: OK") {
		t.Errorf("The commands of %s accept a release: %v\n%s", verificationPage, err, out)
	}
	for _, changed := range []string{"install.yaml", "checksums.txt"} {
		dir := t.TempDir()
		for _, name := range []string{"install.yaml", "checksums.txt", "checksums.txt.sig", "cosign.pub"} {
			checkout.CopyFile(t, c.Dist(name), filepath.Join(dir, name))
		}
		if err := os.WriteFile(filepath.Join(dir, changed), []byte(readFileText(t, c.Dist(changed))+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := verify(dir); err == nil {
			t.Errorf("The commands of %s refuse a changed %s, got:\n%s", verificationPage, changed, out)
		}
	}
}

// wantContent compares the list of the content of the plugin with the list of the go command.
func wantContent(t *testing.T, c *checkout.Checkout, program string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	document := struct {
		Packages []struct {
			Name        string `json:"name"`
			VersionInfo string `json:"versionInfo"`
		} `json:"packages"`
	}{}
	if err := json.Unmarshal([]byte(readFileText(t, c.Dist("kubectl-intent.spdx.json"))), &document); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" {
			want[f[1]+" "+f[2]] = true
		}
	}
	for _, p := range document.Packages {
		if name := p.Name + " " + p.VersionInfo; p.Name != "std" && !strings.HasPrefix(p.Name, "kubectl-intent") {
			got[name] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("The document has each module of the plugin: -want, +got:\n%s", diff)
	}
}

// wantVersion asks a program for its version.
func wantVersion(t *testing.T, program string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("%s --version: want %s, got %v: %s", program, version, err, out)
	}
}

func readFileText(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
