package packages

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// writePackage writes a package file with one layer, whose role is a label as in the files of "crossplane xpkg build".
func writePackage(t *testing.T, architecture string) string {
	t.Helper()
	layer, err := random.Layer(64, "application/vnd.oci.image.layer.v1.tar+gzip")
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layer.Digest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config.Labels = map[string]string{xpkg.Label(digest.String()): xpkg.PackageAnnotation}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), architecture+".xpkg")
	if err := tarball.WriteToFile(file, nil, img); err != nil {
		t.Fatal(err)
	}
	return file
}

func loadPackages(t *testing.T, files ...string) Manifest {
	t.Helper()
	m, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// serve starts a registry behind a filter, and returns a repository in it.
func serve(t *testing.T, refuses func(*http.Request) bool) name.Repository {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses(r) {
			http.Error(w, `{"errors":[{"code":"DENIED","message":"this architecture is not taken"}]}`, http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	repository, err := name.NewRepository(strings.TrimPrefix(s.URL, "http://") + "/intentplane/function-intentplane")
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

func refuseNothing(*http.Request) bool { return false }

func digestOf(t *testing.T, m Manifest) v1.Hash {
	t.Helper()
	h, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestPushFromFolder keeps an index and a signature in a folder, and pushes them from there.
func TestPushFromFolder(t *testing.T) {
	index := loadPackages(t, writePackage(t, "amd64"), writePackage(t, "arm64"))
	signature := loadPackages(t, writePackage(t, "amd64"))
	dir := filepath.Join(t.TempDir(), "function")
	if err := Write(dir, []Tagged{{Tag: "sha256-a.sig", Manifest: signature}, {Tag: "v0.1.0", Manifest: index}}); err != nil {
		t.Fatal(err)
	}
	all, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	repository := serve(t, refuseNothing)
	if err := Push(t.Context(), []Delivery{{Repository: repository, Manifests: all}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]v1.Hash{"sha256-a.sig": digestOf(t, signature), "v0.1.0": digestOf(t, index)}
	got := map[string]v1.Hash{}
	for tag := range want {
		d, err := remote.Head(repository.Tag(tag))
		if err != nil {
			t.Fatal(err)
		}
		got[tag] = d.Digest
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A registry has the manifests of the folder: -want, +got:\n%s", diff)
	}
	compareIndexes(t, repository)
	if err := Push(t.Context(), []Delivery{{Repository: repository, Manifests: all}}); err != nil {
		t.Errorf("A push that was interrupted is repeated: %v", err)
	}
}

// compareIndexes holds the index in a registry to its platforms, and its layers to the annotations that Crossplane reads.
func compareIndexes(t *testing.T, repository name.Repository) {
	t.Helper()
	index, err := remote.Index(repository.Tag("v0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range list.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		m, err := img.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		got[d.Platform.String()] = m.Layers[0].Annotations[xpkg.AnnotationKey]
	}
	if diff := cmp.Diff(map[string]string{"linux/amd64": xpkg.PackageAnnotation, "linux/arm64": xpkg.PackageAnnotation}, got); diff != "" {
		t.Errorf("Each architecture is in the index, with the role of its layer: -want, +got:\n%s", diff)
	}
}

func TestPushRefuses(t *testing.T) {
	amd64, arm64 := writePackage(t, "amd64"), writePackage(t, "arm64")
	refusedImage, err := loadImage(arm64)
	if err != nil {
		t.Fatal(err)
	}
	existing, err := loadImage(amd64)
	if err != nil {
		t.Fatal(err)
	}
	refusedPath := "/manifests/" + digestOf(t, refusedImage).String()
	cases := map[string]struct {
		reason  string
		refuses func(*http.Request) bool
		// existing is pushed first, unless it is nil.
		existing v1.Image
		want     string
		// wantTag is the digest of the version in the end, or empty.
		wantTag v1.Hash
		// wantEarlier is true if the repository before it has its package in the end.
		wantEarlier bool
	}{
		"OneArchitecture": {
			reason: "A registry that refuses one architecture gets no tag, and the error names the architecture.",
			refuses: func(r *http.Request) bool {
				return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, refusedPath)
			},
			want: "linux/arm64", wantEarlier: true,
		},
		"Exists": {
			reason: "A version that exists with other content stays, and no other repository gets a package of it.", refuses: refuseNothing, existing: existing,
			want: "the tag exists", wantTag: digestOf(t, existing),
		},
		"Unreadable": {
			reason: "A registry that does not answer whether the version exists gets nothing.", refuses: func(*http.Request) bool { return true },
			want: "cannot look for",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			repository := serve(t, tc.refuses)
			if tc.existing != nil {
				if err := remote.Write(repository.Tag("v0.1.0"), tc.existing); err != nil {
					t.Fatal(err)
				}
			}
			earlier := repository.Repo("intentplane", "provider-intentplane")
			err := Push(t.Context(), []Delivery{
				{Repository: earlier, Manifests: []Tagged{{Tag: "v0.1.0", Manifest: loadPackages(t, amd64)}}},
				{Repository: repository, Manifests: []Tagged{{Tag: "v0.1.0", Manifest: loadPackages(t, amd64, arm64)}}},
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nPush(...): want %q, got %v", tc.reason, tc.want, err)
			}
			if got := digestOfTag(repository); got != tc.wantTag {
				t.Errorf("\n%s\nPush(...): the version is %s, want %s", tc.reason, got, tc.wantTag)
			}
			if got := digestOfTag(earlier); (got != v1.Hash{}) != tc.wantEarlier {
				t.Errorf("\n%s\nPush(...): the repository before it has %s, want a package: %v", tc.reason, got, tc.wantEarlier)
			}
		})
	}
}

// digestOfTag returns the digest of the version in a repository, or an empty one.
func digestOfTag(repository name.Repository) v1.Hash {
	d, err := remote.Head(repository.Tag("v0.1.0"))
	if err != nil {
		return v1.Hash{}
	}
	return d.Digest
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("A folder without packages cannot be read.")
	}
	bare := filepath.Join(t.TempDir(), "empty")
	if err := Write(bare, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bare); err == nil {
		t.Error("A layout without a manifest has no package to push.")
	}
	if _, err := Load([]string{filepath.Join(t.TempDir(), "a.xpkg")}); err == nil {
		t.Error("A package that does not exist cannot be loaded.")
	}
}
