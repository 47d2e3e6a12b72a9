package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func goEnv(t *testing.T, name string) string {
	t.Helper()
	b, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// TestLicences finds the licence of each module that is linked into a binary, which is this test, in the image.
func TestLicences(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := request{binary: binary, platform: "linux/amd64", modcache: goEnv(t, "GOMODCACHE"), goroot: goEnv(t, "GOROOT")}
	img, err := r.image()
	if err != nil {
		t.Fatal(err)
	}
	existing := map[string]bool{}
	content := mutate.Extract(img)
	defer func() { _ = content.Close() }()
	for in := tar.NewReader(content); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 && strings.HasPrefix(h.Name, "licences/") {
			existing[filepath.ToSlash(filepath.Dir(h.Name))] = true
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		t.Fatal("this test has no modules")
	}
	for _, name := range append([]string{"go"}, paths(info.Deps)...) {
		if !existing["licences/"+name] {
			t.Errorf("the image has no licence of %s", name)
		}
	}
}

func paths(modules []*debug.Module) []string {
	out := make([]string, 0, len(modules))
	for _, m := range modules {
		out = append(out, m.Path)
	}
	return out
}

// TestNoLicence makes no image of a module whose licence is not found.
func TestNoLicence(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := licences(binary, t.TempDir(), goEnv(t, "GOROOT")); err == nil {
		t.Error("licences(...): want an error for a module cache without the modules")
	}
	if err := collect(map[string][]byte{}, t.TempDir(), "example.org/none"); !errors.Is(err, errNoLicence) {
		t.Errorf("collect(...): %v, want %v", err, errNoLicence)
	}
}
