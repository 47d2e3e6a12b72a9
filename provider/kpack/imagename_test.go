package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckImage has the repository of an image, whose registry may have two names.
func TestCheckImage(t *testing.T) {
	cases := map[string]struct {
		reason            string
		image, repository string
		want              bool
	}{
		"Hub":  {reason: "Docker Hub has two names.", image: "index.docker.io/acme/shop" + digest, repository: "docker.io/acme/shop", want: true},
		"Port": {reason: "Another port is another registry.", image: "127.0.0.1:5001/apps/shop" + digest, repository: "127.0.0.1:5000/apps/shop"},
		"Same": {reason: "The same repository is the same.", image: "127.0.0.1:5000/apps/shop" + digest, repository: "127.0.0.1:5000/apps/shop", want: true},
		"Namespace": {
			reason: "An image of another namespace is in another repository.",
			image:  ImageRepository("127.0.0.1:5000/apps", "team-b", "shop") + digest, repository: ImageRepository("127.0.0.1:5000/apps", "team-a", "shop"),
		},
		"Nothing": {reason: "A Build without an image names none.", image: "", repository: "docker.io/acme/shop"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, CheckImage(tc.image, tc.repository)); diff != "" {
				t.Errorf("\n%s\nCheckImage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
