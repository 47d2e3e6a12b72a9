// Package packages makes Crossplane packages ready for a registry, keeps them in a folder with their signatures, and pushes them from there.
package packages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// tagAnnotation has the tag of a manifest in a folder, by the specification of OCI image layouts.
const tagAnnotation = "org.opencontainers.image.ref.name"

// digestTag begins the tags of signatures and attestations, which go on with the digest of the signed manifest.
const digestTag = "sha256-"

// A Manifest is an image or an index of images.
type Manifest interface {
	partial.Describable
}

// Load returns the manifest that "crossplane xpkg push" makes of package files: an image of one file, and an index of the files of several architectures.
func Load(files []string) (Manifest, error) {
	if len(files) == 1 {
		return loadImage(files[0])
	}
	adds := make([]mutate.IndexAddendum, len(files))
	for i, file := range files {
		img, err := loadImage(file)
		if err != nil {
			return nil, err
		}
		if adds[i], err = describePlatform(img); err != nil {
			return nil, fmt.Errorf("cannot describe package %s: %w", file, err)
		}
	}
	return mutate.AppendManifests(empty.Index, adds...), nil
}

func loadImage(file string) (v1.Image, error) {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read package %s: %w", file, err)
	}
	img, err = xpkg.AnnotateLayers(img)
	if err != nil {
		return nil, fmt.Errorf("cannot annotate the layers of package %s: %w", file, err)
	}
	return img, nil
}

func describePlatform(img v1.Image) (mutate.IndexAddendum, error) {
	media, err := img.MediaType()
	if err != nil {
		return mutate.IndexAddendum{}, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return mutate.IndexAddendum{}, err
	}
	platform := &v1.Platform{Architecture: config.Architecture, OS: config.OS, OSVersion: config.OSVersion}
	return mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{MediaType: media, Platform: platform}}, nil
}

// A Tagged is a manifest with its tag in a repository.
type Tagged struct {
	Tag      string
	Manifest Manifest
}

// Write makes an OCI image layout in a folder that does not exist.
func Write(dir string, all []Tagged) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("cannot make %s: %w", dir, err)
	}
	for _, m := range all {
		if err := m.appendTo(path); err != nil {
			return fmt.Errorf("cannot write %s to %s: %w", m.Tag, dir, err)
		}
	}
	return nil
}

func (m Tagged) appendTo(path layout.Path) error {
	tag := layout.WithAnnotations(map[string]string{tagAnnotation: m.Tag})
	switch manifest := m.Manifest.(type) {
	case v1.ImageIndex:
		return path.AppendIndex(manifest, tag)
	case v1.Image:
		return path.AppendImage(manifest, tag)
	}
	return errors.New("the manifest is neither an image nor an index")
}

// Read returns the manifests of an OCI image layout, in the order in which they were written.
func Read(dir string) ([]Tagged, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read packages from %s: %w", dir, err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("cannot read packages from %s: %w", dir, err)
	}
	var out []Tagged
	for _, d := range list.Manifests {
		m, err := readManifest(index, d)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s from %s: %w", d.Digest, dir, err)
		}
		out = append(out, Tagged{Tag: d.Annotations[tagAnnotation], Manifest: m})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cannot read packages from %s: the folder has no manifest", dir)
	}
	return out, nil
}

func readManifest(index v1.ImageIndex, d v1.Descriptor) (Manifest, error) {
	if d.MediaType.IsIndex() {
		return index.ImageIndex(d.Digest)
	}
	return index.Image(d.Digest)
}

// A Delivery is the manifests for one repository, in the order in which it gets them.
type Delivery struct {
	Repository name.Repository
	Manifests  []Tagged
}

// Push writes manifests to repositories, in their order. It refuses a package whose tag names another manifest, and writes nothing to any repository then: a version
// never has packages of two releases. An index is tagged after the registry took all of its images: a registry that refuses one architecture has no package for the
// others.
func Push(ctx context.Context, all []Delivery, opts ...remote.Option) error {
	opts = append(opts, remote.WithContext(ctx))
	for _, step := range []func(Delivery, []remote.Option) error{Delivery.check, Delivery.write} {
		for _, d := range all {
			if err := step(d, opts); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d Delivery) check(opts []remote.Option) error {
	for _, m := range d.Manifests {
		if strings.HasPrefix(m.Tag, digestTag) {
			continue // Another signature of the same digest may take its place.
		}
		if err := m.checkTag(d.Repository, opts); err != nil {
			return err
		}
	}
	return nil
}

func (d Delivery) write(opts []remote.Option) error {
	for _, m := range d.Manifests {
		if err := m.upload(d.Repository, opts); err != nil {
			return fmt.Errorf("cannot push %s:%s: %w", d.Repository, m.Tag, err)
		}
	}
	return nil
}

func (m Tagged) checkTag(repository name.Repository, opts []remote.Option) error {
	existing, err := remote.Head(repository.Tag(m.Tag), opts...)
	refused := &transport.Error{}
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look for %s:%s: %w", repository, m.Tag, err)
	}
	digest, err := m.Manifest.Digest()
	if err != nil {
		return fmt.Errorf("cannot read the digest of %s: %w", m.Tag, err)
	}
	if existing.Digest != digest {
		return fmt.Errorf("cannot push %s:%s: the tag exists, with digest %s in the place of %s: a released version never changes", repository, m.Tag, existing.Digest, digest)
	}
	return nil
}

func (m Tagged) upload(repository name.Repository, opts []remote.Option) error {
	switch manifest := m.Manifest.(type) {
	case v1.ImageIndex:
		if err := pushImages(repository, manifest, opts); err != nil {
			return err
		}
		return remote.WriteIndex(repository.Tag(m.Tag), manifest, opts...)
	case v1.Image:
		return remote.Write(repository.Tag(m.Tag), manifest, opts...)
	}
	return errors.New("the manifest is neither an image nor an index")
}

// pushImages pushes the images of an index by their digests. Its error names the platform.
func pushImages(repository name.Repository, index v1.ImageIndex, opts []remote.Option) error {
	list, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range list.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			return err
		}
		if err := remote.Write(repository.Digest(d.Digest.String()), img, opts...); err != nil {
			return fmt.Errorf("%s: %w", d.Platform, err)
		}
	}
	return nil
}
