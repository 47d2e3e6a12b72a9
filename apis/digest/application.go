package digest

import (
	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

// Application returns the digest of the whole of what a user wrote in the spec of an Application. It is the value of status.specDigest. Fields that the
// schema would have filled in count as if it had. It returns an error when the spec cannot be encoded.
func Application(s *applicationv1alpha1.ApplicationSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &applicationv1alpha1.ApplicationSpec{}))
}
