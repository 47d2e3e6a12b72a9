package diagnosis

import (
	"fmt"
	"strings"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
)

// programImages returns the images whose programs run with the settings of examples/install. Configurations name them so, also where a mirror serves them.
func programImages() []string {
	return []string{"ghcr.io/intentplane/provider-intentplane", "ghcr.io/intentplane/function-intentplane"}
}

// mirrorLines say, of each program whose image comes from a mirror, whether an ImageConfig gives it its settings, and whether its signature is verified.
// Crossplane looks up both by the name that the image has in the mirror. Missing settings have the given result.
func mirrorLines(f *Facts, missing Result) []Line {
	if f.Images.IsAbsent {
		return nil
	}
	if f.Images.Unread != nil {
		return []Line{unreadLine(checkPackages, f.Images.Unread)}
	}
	var out []Line
	for _, image := range programImages() {
		mirror, prefix := bestImageConfig(f.Images.Items, image, rewritesImage)
		if mirror == nil {
			continue
		}
		mirrored := mirror.Spec.RewriteImage.Prefix + strings.TrimPrefix(image, prefix)
		out = append(append(out, f.mirrorLine(mirror, mirrored, missing)), f.verificationLines(image, mirrored)...)
	}
	return out
}

// mirrorLine is about a program whose image has a name of its own in a mirror.
func (f *Facts) mirrorLine(mirror *pkgv1beta1.ImageConfig, image string, missing Result) Line {
	out := Line{Check: checkPackages, Object: "ImageConfig " + mirror.GetName()}
	settings, _ := bestImageConfig(f.Images.Items, image, configuresRuntime)
	if settings != nil {
		out.Result, out.Message = OK, fmt.Sprintf("%s has the settings of ImageConfig %s", image, settings.GetName())
		return out
	}
	out.Result, out.Message = missing, fmt.Sprintf("No ImageConfig gives %s its settings: images are looked up by the name that they have in the mirror.", image)
	out.Fix = fmt.Sprintf("Add the prefix %s to the ImageConfigs of examples/install/runtime.yaml, and apply them.", image)
	return out
}

// verificationLines name an image whose signature is to be verified, and is not, since the ImageConfig has the name outside of the mirror alone.
func (f *Facts) verificationLines(image, mirrored string) []Line {
	original, _ := bestImageConfig(f.Images.Items, image, verifiesImage)
	found, _ := bestImageConfig(f.Images.Items, mirrored, verifiesImage)
	if original == nil || found != nil {
		return nil
	}
	return []Line{{
		Check: checkPackages, Object: "ImageConfig " + original.GetName(), Result: Problem,
		Message: fmt.Sprintf("The signature of %s is not verified: images are looked up by the name that they have in the mirror.", mirrored),
		Fix:     fmt.Sprintf("Add the prefix %s to ImageConfig %s, and copy the signatures to the mirror.", mirrored, original.GetName()),
	}}
}

func verifiesImage(c *pkgv1beta1.ImageConfig) bool { return c.Spec.Verification != nil }

func rewritesImage(c *pkgv1beta1.ImageConfig) bool { return c.Spec.RewriteImage != nil }

func configuresRuntime(c *pkgv1beta1.ImageConfig) bool { return c.Spec.Runtime != nil }

// bestImageConfig returns the ImageConfig for a purpose whose prefix of an image is the longest, and that prefix, as Crossplane chooses it. It returns nil if none matches.
func bestImageConfig(all []pkgv1beta1.ImageConfig, image string, hasPurpose func(*pkgv1beta1.ImageConfig) bool) (*pkgv1beta1.ImageConfig, string) {
	var out *pkgv1beta1.ImageConfig
	longest := ""
	for i := range all {
		if !hasPurpose(&all[i]) {
			continue
		}
		for _, m := range all[i].Spec.MatchImages {
			if strings.HasPrefix(image, m.Prefix) && len(m.Prefix) > len(longest) {
				out, longest = &all[i], m.Prefix
			}
		}
	}
	return out, longest
}
