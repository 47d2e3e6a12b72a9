// Command images makes a container image from one static binary, without a container runtime.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonRoot is the user and group that the binary runs as. It is a number because
// an image of one file has no user database, and because Kubernetes can only
// enforce runAsNonRoot for numbers.
const nonRoot = "65532:65532"

// request says what goes into the image and where the image goes.
type request struct {
	binary   string
	tag      string
	platform string
	output   string
	// modcache and goroot hold the sources of what is linked. Empty leaves their licences out of the image.
	modcache, goroot string
}

func main() {
	r := request{}
	flag.StringVar(&r.binary, "binary", "", "The static binary that the image runs.")
	flag.StringVar(&r.tag, "tag", "", "The reference that names the image in the tarball.")
	flag.StringVar(&r.platform, "platform", "", "The platform that the binary is built for, for example linux/amd64.")
	flag.StringVar(&r.output, "output", "", "The tarball to write.")
	flag.StringVar(&r.modcache, "modcache", "", "The module cache, as \"go env GOMODCACHE\" says. The image has the licences of all modules in the binary.")
	flag.StringVar(&r.goroot, "goroot", "", "Where Go is, as \"go env GOROOT\" says. Its own licence is among them.")
	flag.Parse()

	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// write writes the image as a tarball. It returns an error when the request is
// incomplete, or a file cannot be read or written.
func (r request) write() error {
	tag, err := name.NewTag(r.tag)
	if err != nil {
		return fmt.Errorf("cannot parse -tag: %w", err)
	}

	img, err := r.image()
	if err != nil {
		return err
	}

	if err := tarball.WriteToFile(r.output, tag, img); err != nil {
		return fmt.Errorf("cannot write %q: %w", r.output, err)
	}

	return nil
}

// image builds the image. All its times are the zero of Unix time, so that the
// same binary always makes the same image.
func (r request) image() (v1.Image, error) {
	platform, err := v1.ParsePlatform(r.platform)
	if err != nil || platform.OS == "" || platform.Architecture == "" {
		return nil, fmt.Errorf("cannot parse -platform %q: want OS/ARCHITECTURE", r.platform)
	}

	data, err := os.ReadFile(r.binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read -binary: %w", err)
	}

	files, err := r.files()
	if err != nil {
		return nil, err
	}

	layer, err := layerOf(path.Base(r.binary), data, files)
	if err != nil {
		return nil, err
	}

	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("cannot append layer: %w", err)
	}

	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}

	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture, cfg.Variant = platform.OS, platform.Architecture, platform.Variant
	cfg.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	cfg.Config.User = nonRoot
	cfg.Config.Entrypoint = []string{"/" + path.Base(r.binary)}
	cfg.Config.WorkingDir = "/"

	return mutate.ConfigFile(img, cfg)
}

// files are those that the image has beside the binary.
func (r request) files() (map[string][]byte, error) {
	if r.modcache == "" {
		return map[string][]byte{}, nil
	}
	return licences(r.binary, r.modcache, r.goroot)
}

// layerOf returns a layer that holds one executable, files that are read only,
// and a directory for temporary files that the non-root user may write to.
func layerOf(file string, data []byte, files map[string][]byte) (v1.Layer, error) {
	buf := &bytes.Buffer{}
	w := tar.NewWriter(buf)

	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: time.Unix(0, 0)}); err != nil {
		return nil, fmt.Errorf("cannot write %q to layer: %w", "tmp/", err)
	}

	if err := add(w, strings.TrimPrefix(file, "/"), 0o555, data); err != nil {
		return nil, err
	}

	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := add(w, name, 0o444, files[name]); err != nil {
			return nil, err
		}
	}

	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot finish layer: %w", err)
	}

	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
	})
}

// add a file to a layer.
func add(w *tar.Writer, name string, mode int64, data []byte) error {
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data)), ModTime: time.Unix(0, 0)})
	if err == nil {
		_, err = w.Write(data)
	}

	if err != nil {
		return fmt.Errorf("cannot write %q to layer: %w", name, err)
	}

	return nil
}
