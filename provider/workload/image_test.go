package workload

import "testing"

func TestIsSameImage(t *testing.T) {
	const digest = "@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	cases := map[string]struct {
		reason     string
		asked, has string
		want       bool
	}{
		"Same": {reason: "An image is the same as itself.", asked: "shop:1", has: "shop:1", want: true},
		"Mirror": {
			reason: "An image from a mirror has the same digest.",
			asked:  "registry.example.org/shop" + digest, has: "mirror.local/cache/shop:1" + digest, want: true,
		},
		"OtherDigest":   {reason: "Another digest is another image.", asked: newImage, has: oldImage},
		"DigestMissing": {reason: "A tag does not prove a digest.", asked: "shop" + digest, has: "shop:1"},
		"DigestAdded":   {reason: "A policy may add the digest of a tag.", asked: "shop:1", has: "shop:1" + digest, want: true},
		"DefaultNames":  {reason: "Names that a registry completes are the same.", asked: "shop", has: "index.docker.io/library/shop:latest", want: true},
		"OtherTag":      {reason: "Another tag is another image.", asked: "shop:1", has: "shop:2"},
		"OtherName":     {reason: "The same tag of another name is another image.", asked: "shop:1", has: "blog:1"},
		"Empty":         {reason: "No image is the same as none.", asked: "", has: ""},
		"Malformed":     {reason: "A text that names no image is the same as no other.", asked: "shop:1", has: "Sho p:1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsSameImage(tc.asked, tc.has); got != tc.want {
				t.Errorf("\n%s\nIsSameImage(%q, %q): %t", tc.reason, tc.asked, tc.has, got)
			}
		})
	}
}
