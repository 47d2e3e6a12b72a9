package workload

import (
	"strings"

	"github.com/intentplane/intentplane/apis/containerimage"
)

// IsSameImage reports whether a cluster runs the desired image. Digests are compared for all registries: admission policies of clusters
// replace registries by mirrors. Without a digest in the desired image, repository and tag have to be equal, and the cluster may have added a
// digest.
func IsSameImage(requested, current string) bool {
	if requested == current {
		return requested != ""
	}
	want, err := containerimage.Parse(requested)
	if err != nil {
		return false
	}
	if _, digest, _ := strings.Cut(current, "@"); want.Digest != "" {
		return want.Digest == digest
	}
	got, err := containerimage.Parse(current)
	return err == nil && want.Repository == got.Repository && want.PulledTag() == got.PulledTag()
}
