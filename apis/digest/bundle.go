package digest

import (
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// Bundle returns the digest of the whole spec of a Bundle as the user wrote it. It is the value of status.specDigest. A field of the Bundle that equals
// its schema default counts as absent; fields of its packages count as they are written. It returns an error when the spec cannot be encoded.
func Bundle(s *bundlev1alpha1.BundleSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &bundlev1alpha1.BundleSpec{}))
}
