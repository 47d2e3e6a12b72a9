package workload

import "github.com/intentplane/intentplane/apis/containerimage"

// IsSameImage reports whether a cluster runs the image that it is asked for. Digests are compared whatever the registry: admission policies of clusters
// replace registries by mirrors. Without a digest in what is asked for, repository and tag have to be equal, and the cluster may have added a digest.
func IsSameImage(asked, has string) bool {
	if asked == has {
		return asked != ""
	}
	want, err := containerimage.Parse(asked)
	if err != nil {
		return false
	}
	got, err := containerimage.Parse(has)
	if want.Digest != "" {
		return err == nil && want.Digest == got.Digest
	}
	return err == nil && want.Repository == got.Repository && want.PulledTag() == got.PulledTag()
}
