package digest

import (
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// Bundle returns the digest of the whole of what a user wrote in the spec of a Bundle. It is the value of status.specDigest. Fields of the Bundle that the
// schema would have filled in count as if it had; those of its packages count as they are written. It returns an error when the spec cannot be encoded.
func Bundle(s *bundlev1alpha1.BundleSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &bundlev1alpha1.BundleSpec{}))
}
