package workload

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// IsSameImage reports whether a cluster runs the image that it is asked for. Digests are compared whatever the registry: admission policies of clusters
// replace registries by mirrors. Without a digest in what is asked for, repository and tag have to be equal, and the cluster may have added a digest.
func IsSameImage(asked, has string) bool {
	if asked == has {
		return asked != ""
	}
	base, digest := splitDigest(has)
	if _, want := splitDigest(asked); want != "" {
		return want == digest
	}
	want, err := name.NewTag(asked)
	if err != nil {
		return false
	}
	got, err := name.NewTag(base)
	return err == nil && want.Name() == got.Name()
}

func splitDigest(image string) (base, digest string) {
	base, digest, _ = strings.Cut(image, "@")
	return base, digest
}
