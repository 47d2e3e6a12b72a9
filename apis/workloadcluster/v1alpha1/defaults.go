package v1alpha1

import "cmp"

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that equals
// the defaults of an empty spec.
func (s *WorkloadClusterSpec) Default() {
	s.ProviderConfigRef.Kind = cmp.Or(s.ProviderConfigRef.Kind, "ClusterProviderConfig")
	s.ProviderConfigRef.Name = cmp.Or(s.ProviderConfigRef.Name, "default")
	s.DeletionPolicy = cmp.Or(s.DeletionPolicy, DeletionDelete)
	s.ClusterDescription.Default()
}
