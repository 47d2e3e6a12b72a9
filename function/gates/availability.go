package gates

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/containerimage"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

// availabilityKind returns the kind of checks that wait until pods of the revision are available.
func availabilityKind() kind {
	return kind{
		block: "availability", read: readAvailabilityImage,
		whyNoThreshold: "an Availability check has none: availability.minAvailable says how many pods have to be available",
		isSet:          func(check *deploymentv1alpha1.Check) bool { return check.Availability != nil },
		fill: func(_ *Compiler, in Input, check *deploymentv1alpha1.Check) error {
			check.Availability.Image = cmp.Or(check.Availability.Image, in.Image)
			return nil
		},
		allow: func(_ *Compiler, in Input, p catalog.Place, _ *declaredCheck) error {
			return policy.CheckAvailability(&p.Site, in.Namespace)
		},
		textBytes: func(check *deploymentv1alpha1.Check) int { return len(check.Availability.Image) },
	}
}

// readAvailabilityImage refuses an image that no pod can have.
func readAvailabilityImage(_ *Compiler, check *deploymentv1alpha1.Check, _ *int) error {
	if check.Availability.Image == "" {
		return nil
	}
	return checkImageRef("availability.image", check.Availability.Image)
}

// checkImageRef returns an error for an image, at a path, that no container runtime would pull.
func checkImageRef(path, image string) error {
	if _, err := containerimage.Parse(image); err != nil {
		return errors.Errorf("%s: %q is not the reference of an image, such as %s", path, image, containerimage.Example)
	}
	return nil
}
