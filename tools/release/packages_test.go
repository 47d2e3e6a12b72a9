package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/intentplane/intentplane/tools/release/packages"
)

// TestPublish pushes the packages of a release.
func TestPublish(t *testing.T) {
	c := newCommand(t)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer s.Close()
	p := &pushCommand{Dist: c.Output, Registry: strings.TrimPrefix(s.URL, "http://") + "/intentplane"}
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range released {
		repository, err := name.NewRepository(p.Registry + "/" + r.name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := remote.Get(repository.Tag(version))
		if err != nil {
			t.Fatal(err)
		}
		if d.MediaType.IsIndex() != (r.program != "") {
			t.Errorf("A package with a program is an index of its architectures, and others are images: %s is %s", r.name, d.MediaType)
		}
	}
	for _, wrong := range []pushCommand{{Dist: t.TempDir(), Registry: p.Registry}, {Dist: c.Output, Registry: "NO REGISTRY"}} {
		if err := wrong.Run(t.Context()); err == nil {
			t.Errorf("%+v pushes nothing", wrong)
		}
	}
}

// TestPublishIncomplete pushes a release that has lost the folder of its last package.
func TestPublishIncomplete(t *testing.T) {
	c := newCommand(t)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(c.Output, layouts, released[0].name)); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer s.Close()
	p := &pushCommand{Dist: c.Output, Registry: strings.TrimPrefix(s.URL, "http://") + "/intentplane"}
	if err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), released[0].name) {
		t.Errorf("The error names the package that cannot be read, got %v", err)
	}
	if diff := cmp.Diff([]string(nil), publishedNames(t, p.Registry)); diff != "" {
		t.Errorf("An incomplete release publishes no package: -want, +got:\n%s", diff)
	}
}

// TestPublishInTwoRuns pushes a release to a registry that refuses one architecture of a program at first.
func TestPublishInTwoRuns(t *testing.T) {
	c := newCommand(t)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := "/function-intentplane/manifests/" + digestOf(t, filepath.Join(c.Built, "xpkg", "function-arm64.xpkg"))
	handler, takesAll := registry.New(registry.Logger(log.New(io.Discard, "", 0))), atomic.Bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !takesAll.Load() && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, refused) {
			http.Error(w, `{"errors":[{"code":"DENIED","message":"this architecture is not taken"}]}`, http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer s.Close()
	p := &pushCommand{Dist: c.Output, Registry: strings.TrimPrefix(s.URL, "http://") + "/intentplane"}
	if err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("The error names the refused architecture, got %v", err)
	}
	if diff := cmp.Diff([]string{"provider-intentplane"}, publishedNames(t, p.Registry)); diff != "" {
		t.Errorf("No Configuration is there without the function that it depends on: -want, +got:\n%s", diff)
	}
	takesAll.Store(true)
	if err := p.Run(t.Context()); err != nil {
		t.Fatalf("A second run pushes the rest: %v", err)
	}
	if got := publishedNames(t, p.Registry); len(got) != len(released) {
		t.Errorf("All packages are there after the second run, got %q", got)
	}
}

// digestOf returns the digest that the package of a file has in a registry.
func digestOf(t *testing.T, file string) string {
	t.Helper()
	m, err := packages.Load([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// publishedNames returns the names of the packages that a registry has in the version.
func publishedNames(t *testing.T, prefix string) []string {
	t.Helper()
	var out []string
	for _, p := range released {
		repository, err := name.NewRepository(prefix + "/" + p.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Head(repository.Tag(version)); err == nil {
			out = append(out, p.name)
		}
	}
	return out
}
