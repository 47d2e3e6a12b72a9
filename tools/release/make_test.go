package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/sigstore/sigstore/pkg/cryptoutils"

	"github.com/intentplane/intentplane/tools/release/sigstore"
)

const version = "v0.1.0"

// newCommand returns a command for a checkout with one commit, and for small programs and packages in the place of the built ones.
func newCommand(t *testing.T) *makeCommand {
	t.Helper()
	c := &makeCommand{
		versionFlags: versionFlags{Version: version, Root: filepath.Join(t.TempDir(), "root")}, Built: t.TempDir(),
		Platforms: []string{"linux/amd64", "linux/arm64", "windows/amd64"}, Output: filepath.Join(t.TempDir(), "dist"), Builder: "https://example.org",
	}
	if err := os.CopyFS(filepath.Join(c.Root, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(c.Root, "LICENSE"), "Free.")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a"}} {
		run(t, c.Root, "git", args...)
	}
	writeFile(t, filepath.Join(c.Built, "go.mod"), "module example.org/program\n\ngo 1.26\n")
	writeFile(t, filepath.Join(c.Built, "main.go"), "package main\n\nfunc main() {}\n")
	for _, p := range c.Platforms {
		build(t, c.Built, p)
	}
	for _, p := range released {
		for _, f := range p.files(c) {
			writePackage(t, f.built)
			if f.binary != "" {
				writeFile(t, f.binary, readFile(t, pluginPath(c, f.platform.OS+"/"+f.platform.Architecture)))
			}
		}
	}
	return c
}

// pluginPath is the path of the built plugin for a platform such as linux/amd64.
func pluginPath(c *makeCommand, platform string) string {
	return filepath.Join(c.Built, "plugin", filepath.FromSlash(platform), pluginName)
}

// build compiles the small program for a platform, with the settings of a release.
func build(t *testing.T, dir, platform string) {
	t.Helper()
	system, architecture, _ := strings.Cut(platform, "/")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join("plugin", system, architecture, pluginName), ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+system, "GOARCH="+architecture)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// writePackage writes an image into a file, with other content than each image before it.
func writePackage(t *testing.T, path string) {
	t.Helper()
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS = "linux"
	_, config.Architecture, _ = strings.Cut(strings.TrimSuffix(filepath.Base(path), ".xpkg"), "-")
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(path, nil, img); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
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

// readFolder returns the files of a folder by their names, without those of folders in it.
func readFolder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() {
			out[e.Name()] = readFile(t, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

func names(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func writeKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cryptoutils.MarshalPrivateKeyToPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	writeFile(t, file, string(text))
	return file
}

// TestMake makes a release twice without a key, and once with one.
func TestMake(t *testing.T) {
	c := newCommand(t)
	unsigned := []string{
		"checksums.txt", "configuration-intentplane-applications_v0.1.0.xpkg", "configuration-intentplane-namespaced_v0.1.0.xpkg",
		"configuration-intentplane_v0.1.0.xpkg",
		"function-intentplane.spdx.json", "function-intentplane_v0.1.0_linux_amd64.xpkg", "function-intentplane_v0.1.0_linux_arm64.xpkg",
		"install.yaml", "intent.yaml", "kubectl-intent.spdx.json", "kubectl-intent_v0.1.0_linux_amd64.tar.gz", "kubectl-intent_v0.1.0_linux_arm64.tar.gz",
		"kubectl-intent_v0.1.0_windows_amd64.zip", "provenance.json",
		"provider-intentplane.spdx.json", "provider-intentplane_v0.1.0_linux_amd64.xpkg", "provider-intentplane_v0.1.0_linux_arm64.xpkg",
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := readFolder(t, c.Output)
	if diff := cmp.Diff(unsigned, names(first)); diff != "" {
		t.Errorf("A release without a key: -want, +got:\n%s", diff)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, readFolder(t, c.Output)); diff != "" {
		t.Errorf("A second release has the same files: -want, +got:\n%s", diff)
	}
	wantSubjects(t, first["provenance.json"], unsigned)

	played, err := sigstore.NewLog(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(played)
	defer s.Close()
	c.Key, c.Log = writeKey(t), s.URL
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	signed := append([]string{"checksums.txt.sig", "cosign.pub", "provenance.intoto.jsonl", "verification.yaml"}, unsigned...)
	slices.Sort(signed)
	if diff := cmp.Diff(signed, names(readFolder(t, c.Output))); diff != "" {
		t.Errorf("A release with a key: -want, +got:\n%s", diff)
	}
	// A signature and the provenance of each of five packages, and the content of two programs.
	if played.Entries() != 12 {
		t.Errorf("The log records each signature: want 12 entries, got %d", played.Entries())
	}
}

// wantSubjects holds the provenance to all files that are there before it.
func wantSubjects(t *testing.T, provenance string, files []string) {
	t.Helper()
	s := struct{ Subject []struct{ Name string } }{}
	if err := json.Unmarshal([]byte(provenance), &s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, subject := range s.Subject {
		got = append(got, subject.Name)
	}
	slices.Sort(got)
	want := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return name == "checksums.txt" || name == "provenance.json" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The provenance is about each file: -want, +got:\n%s", diff)
	}
}

func TestMakeRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*testing.T, *makeCommand)
		want   string
	}{
		"Version": {
			reason: "A version of another form is refused.",
			change: func(_ *testing.T, c *makeCommand) { c.Version = "0.1.0" }, want: "want a semantic version",
		},
		"Dirty": {reason: "A change that no commit has is refused.", change: func(t *testing.T, c *makeCommand) { t.Helper(); writeFile(t, filepath.Join(c.Root, "new"), "") }, want: "new differs"},
		"Key": {
			reason: "A key that does not exist is refused before any file is made.",
			change: func(_ *testing.T, c *makeCommand) { c.Key = "/nowhere" }, want: "cannot read the key",
		},
		"Platform": {
			reason: "A platform that was not built is refused.",
			change: func(_ *testing.T, c *makeCommand) { c.Platforms = append(c.Platforms, "plan9/amd64") }, want: "cannot read the plugin",
		},
		"Mixed": {
			reason: "A program that was built for another platform than its package is refused.",
			change: func(t *testing.T, c *makeCommand) {
				t.Helper()
				writeFile(t, filepath.Join(c.Built, "linux", "arm64", "provider"), readFile(t, pluginPath(c, "linux/amd64")))
			},
			want: "provider: setting GOARCH",
		},
		"Log": {
			reason: "A log that does not answer ends the release.",
			change: func(t *testing.T, c *makeCommand) {
				t.Helper()
				s := httptest.NewServer(nil)
				c.Key, c.Log = writeKey(t), s.URL
				s.Close()
			},
			want: "cannot record the signature",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCommand(t)
			if err := os.Mkdir(c.Output, 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(c.Output, "earlier"), "release")
			tc.change(t, c)
			err := c.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nRun(...): want %q, got %v", tc.reason, tc.want, err)
			}
			if diff := cmp.Diff([]string{"earlier"}, names(readFolder(t, c.Output))); diff != "" {
				t.Errorf("\n%s\nRun(...): the earlier files stay: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
