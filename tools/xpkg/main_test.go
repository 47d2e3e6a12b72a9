package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const function = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: fn}\nspec: {}\n"

func TestWrite(t *testing.T) {
	type want struct {
		layers  []string
		command []string
		err     bool
	}
	cases := map[string]struct {
		reason string
		files  map[string]string
		with   string
		want   want
	}{
		"Function": {
			reason: "A package has a layer with what is installed and one with examples, which are never installed.",
			files:  map[string]string{"crossplane.yaml": function, "examples/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"},
			want:   want{layers: []string{xpkg.PackageAnnotation, xpkg.ExamplesAnnotation}},
		},
		"Runtime": {
			reason: "A package with a program starts that program's command.",
			files:  map[string]string{"crossplane.yaml": function, "examples/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"},
			with:   "image.tar",
			want:   want{layers: []string{xpkg.PackageAnnotation, xpkg.ExamplesAnnotation}, command: []string{"/fn"}},
		},
		"NoMeta": {
			reason: "A folder that says nowhere what the package is cannot become one.",
			files:  map[string]string{"examples/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"},
			want:   want{err: true},
		},
		"TwoMetas": {
			reason: "A folder that describes two packages cannot become one.",
			files:  map[string]string{"crossplane.yaml": function, "second.yaml": strings.Replace(function, "fn", "other", 1)},
			want:   want{err: true},
		},
		"NoRuntime": {
			reason: "A program that is asked for and is not there is an error, and not a package without it.",
			files:  map[string]string{"crossplane.yaml": function},
			with:   "gone.tar",
			want:   want{err: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := requestFor(t, tc.files, tc.with)
			err := r.writePackage(t.Context())
			got := want{err: err != nil}
			if err == nil {
				got.layers, got.command = readPackage(t, r.output)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nwritePackage(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

// requestFor writes the files of a package, and the image that runs beside them.
func requestFor(t *testing.T, files map[string]string, runtime string) request {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, "root", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	img, err := mutate.Config(empty.Image, v1.Config{Entrypoint: []string{"/fn"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "image.tar"), nil, img); err != nil {
		t.Fatal(err)
	}
	r := request{root: filepath.Join(dir, "root"), examples: filepath.Join(dir, "root", "examples"), output: filepath.Join(dir, "out.xpkg")}
	if runtime != "" {
		r.runtime = filepath.Join(dir, runtime)
	}
	return r
}

// readPackage returns what the layers of a package are for, as its labels say, and its command.
func readPackage(t *testing.T, path string) ([]string, []string) {
	t.Helper()
	img, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	purposes := []string{}
	for _, l := range layers {
		purposes = append(purposes, purposeOf(t, l, config.Config.Labels))
	}
	return purposes, config.Config.Entrypoint
}

func purposeOf(t *testing.T, l v1.Layer, labels map[string]string) string {
	t.Helper()
	digest, err := l.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return labels[xpkg.Label(digest.String())]
}
