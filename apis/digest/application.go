package digest

import (
	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

// Application returns the digest of the whole spec of an Application as the user wrote it. It is the value of status.specDigest. A field that equals
// its schema default counts as absent. It returns an error when the spec cannot be encoded.
func Application(s *applicationv1alpha1.ApplicationSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &applicationv1alpha1.ApplicationSpec{}))
}
