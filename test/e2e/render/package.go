package render

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// digestOfPackage returns a digest of the whole content of a package.
func digestOfPackage(t *testing.T, file string) string {
	t.Helper()
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}
