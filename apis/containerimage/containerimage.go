// Package containerimage parses references of container images by the grammar of the container runtimes: a text is valid if a kubelet can pull it.
package containerimage

import (
	_ "crypto/sha512" // Digests of SHA-384 and SHA-512 are references too.
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/distribution/reference"
)

// DefaultTag is the tag that a runtime pulls where a reference has neither a tag nor a digest.
const DefaultTag = "latest"

// Example is a reference for messages about text that is none.
const Example = "registry.example.org/team/app:1.2.0"

// A Reference has the parts of the reference of an image.
type Reference struct {
	// Name as it is written, such as nginx or docker.io/library/nginx.
	Name string

	// Repository that the name stands for, with its registry: docker.io/library/nginx for both.
	Repository string

	// Tag and Digest as they are written. Empty means absent.
	Tag, Digest string
}

// Parse returns the parts of a reference. It returns an error, without the text in it, for text that a container runtime would refuse.
func Parse(text string) (Reference, error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return Reference{}, errors.New("text is not the reference of an image, such as " + Example)
	}
	r := Reference{Repository: named.Name()}
	if t, ok := named.(reference.Tagged); ok {
		r.Tag = t.Tag()
	}
	name, digest, _ := strings.Cut(text, "@")
	r.Name, r.Digest = strings.TrimSuffix(name, ":"+r.Tag), digest
	return r, nil
}

// PulledTag returns the tag that a runtime pulls if the reference has no digest.
func (r Reference) PulledTag() string {
	if r.Tag == "" {
		return DefaultTag
	}
	return r.Tag
}
