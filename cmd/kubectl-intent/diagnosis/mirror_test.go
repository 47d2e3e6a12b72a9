package diagnosis

import (
	"testing"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

const (
	mirroredProvider = "r.example.org/ghcr/intentplane/provider-intentplane"
	mirroredFunction = "r.example.org/ghcr/intentplane/function-intentplane"
)

// mirrorOf returns an ImageConfig that renames the images with a prefix.
func mirrorOf(name, prefix, target string) pkgv1beta1.ImageConfig {
	c := runtimeFor(prefix)
	c.Name, c.Spec.Runtime, c.Spec.RewriteImage = name, nil, &pkgv1beta1.ImageRewrite{Prefix: target}
	return c
}

// runtimeFor returns an ImageConfig with settings for the programs of images with a prefix.
func runtimeFor(prefix string) pkgv1beta1.ImageConfig {
	c := pkgv1beta1.ImageConfig{}
	c.Name = "runtime"
	c.Spec.MatchImages = []pkgv1beta1.ImageMatch{{Type: pkgv1beta1.Prefix, Prefix: prefix}}
	c.Spec.Runtime = &pkgv1beta1.ImageRuntime{}
	return c
}

// verificationFor returns an ImageConfig that verifies the signatures of images with a prefix.
func verificationFor(prefix string) pkgv1beta1.ImageConfig {
	c := runtimeFor(prefix)
	c.Name, c.Spec.Runtime, c.Spec.Verification = "verification", nil, &pkgv1beta1.ImageVerification{}
	return c
}

// missingSettings is the line about a program without settings.
func missingSettings(result Result, image string) string {
	return string(result) + " | packages | ImageConfig mirror | No ImageConfig gives " + image + " its settings: images are looked up by the name that they have in the mirror. | " +
		"Add the prefix " + image + " to the ImageConfigs of examples/install/runtime.yaml, and apply them."
}

// missingVerification is the line about an image whose signature is not verified.
func missingVerification(image string) string {
	return "problem | packages | ImageConfig verification | The signature of " + image + " is not verified: images are looked up by the name that they have in the " +
		"mirror. | Add the prefix " + image + " to ImageConfig verification, and copy the signatures to the mirror."
}

func TestMirrorLines(t *testing.T) {
	mirror := mirrorOf("mirror", "ghcr.io", "r.example.org/ghcr")
	cases := map[string]struct {
		reason string
		images Part[pkgv1beta1.ImageConfig]
		want   []string
	}{
		"NoMirror": {
			reason: "Without a mirror the names of images are those of the examples.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{runtimeFor("ghcr.io/intentplane")}},
		},
		"Forgotten": {
			reason: "Settings for the original names are not found behind a mirror.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{mirror, runtimeFor("ghcr.io/intentplane")}},
			want:   []string{missingSettings(Problem, mirroredProvider), missingSettings(Problem, mirroredFunction)},
		},
		"Half": {
			reason: "Each program needs settings of its own.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{mirror, runtimeFor(mirroredProvider)}},
			want: []string{
				"ok | packages | ImageConfig mirror | " + mirroredProvider + " has the settings of ImageConfig runtime | ", missingSettings(Problem, mirroredFunction),
			},
		},
		"LongestPrefix": {
			reason: "Of two mirrors the one with the longest prefix serves an image.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{
				mirrorOf("own", "ghcr.io/intentplane", "r.example.org/own"), mirror, runtimeFor("r.example.org/own"),
			}},
			want: []string{
				"ok | packages | ImageConfig own | r.example.org/own/provider-intentplane has the settings of ImageConfig runtime | ",
				"ok | packages | ImageConfig own | r.example.org/own/function-intentplane has the settings of ImageConfig runtime | ",
			},
		},
		"Unverified": {
			reason: "A signature is looked up by the name in the mirror: a key for the original name verifies nothing.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{
				mirror, runtimeFor("r.example.org/ghcr"), verificationFor("ghcr.io/intentplane"),
			}},
			want: []string{
				"ok | packages | ImageConfig mirror | " + mirroredProvider + " has the settings of ImageConfig runtime | ", missingVerification(mirroredProvider),
				"ok | packages | ImageConfig mirror | " + mirroredFunction + " has the settings of ImageConfig runtime | ", missingVerification(mirroredFunction),
			},
		},
		"Verified": {
			reason: "A key for the name in the mirror verifies the image.",
			images: Part[pkgv1beta1.ImageConfig]{Items: []pkgv1beta1.ImageConfig{
				mirror, runtimeFor("r.example.org/ghcr"), verificationFor("ghcr.io/intentplane"), verificationFor("r.example.org/ghcr/intentplane"),
			}},
			want: []string{
				"ok | packages | ImageConfig mirror | " + mirroredProvider + " has the settings of ImageConfig runtime | ",
				"ok | packages | ImageConfig mirror | " + mirroredFunction + " has the settings of ImageConfig runtime | ",
			},
		},
		"Absent": {reason: "A Crossplane without ImageConfigs has no mirrors.", images: Part[pkgv1beta1.ImageConfig]{IsAbsent: true, Unread: &cause.Unread{}}},
		"Unread": {
			reason: "A user who may not read ImageConfigs learns nothing about mirrors.", images: Part[pkgv1beta1.ImageConfig]{Unread: unread("imageconfigs.pkg.crossplane.io")},
			want: []string{"unknown | packages | imageconfigs.pkg.crossplane.io | not read: the user may not read them | "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range mirrorLines(&Facts{Images: tc.images}, Problem) {
				got = append(got, sayLine(l))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmirrorLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
