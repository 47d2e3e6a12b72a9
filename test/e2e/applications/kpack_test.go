package applications

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"

	"github.com/intentplane/intentplane/test/scene"
)

// TestKpack follows an Image of kpack from commits to digests, through each end that its pods may have: that real kpack answers as the provider expects.
func TestKpack(t *testing.T) {
	t.Parallel()
	s := newImageScene(t)
	s.Apply(s.image)
	first := scene.Field(s.awaitReached("UpToDate", "shop-build-1"), "status", "latestImage")
	repository := scene.Field(s.image, "spec", "tag")
	digest, err := crane.Digest(repository)
	if err != nil || first != repository+"@"+digest {
		t.Fatalf("kpack says %s, the registry has %s: %v", first, digest, err)
	}
	s.failBuildStep(first)
	s.rebuildCommit()
	s.deleteBuildPod()
}
