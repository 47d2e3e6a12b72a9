package docs

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// TestPackagesOfTwoArchitectures pushes packages that "make" builds for two architectures. Our compilers are left out: the programs exist,
// and are newer than their sources.
func TestPackagesOfTwoArchitectures(t *testing.T) {
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	output, program := t.TempDir(), smallProgram(t)
	for file, text := range map[string]string{
		"settings":             "v1.2.3 amd64,arm64\n",
		"linux/amd64/function": program + "function", "linux/arm64/function": program + "another function",
		"linux/amd64/provider": program + "provider", "linux/arm64/provider": program + "another provider",
	} {
		path := filepath.Join(output, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A program is newer than the settings that it was built with.
	old := filepath.Join(root, "Makefile")
	info, err := os.Stat(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(output, "settings"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(registry.New())
	defer s.Close()
	repository := strings.TrimPrefix(s.URL, "http://") + "/intentplane"

	cmd := exec.CommandContext(t.Context(), "make", "push", "VERSION=v1.2.3", "ARCH=amd64,arm64", "OUTPUT="+output, "REGISTRY="+repository)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot push packages: %v\n%s", err, out)
	}
	for _, pkg := range []string{"function-intentplane", "provider-intentplane"} {
		ref, err := name.ParseReference(repository + "/" + pkg + ":v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(ref, remote.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range manifest.Manifests {
			got = append(got, m.Platform.String())
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, got); diff != "" {
			t.Errorf("platforms of %s: -want, +got:\n%s", pkg, diff)
		}
	}
}
