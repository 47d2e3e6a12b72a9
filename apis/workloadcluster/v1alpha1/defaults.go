package v1alpha1

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that equals
// the defaults of an empty spec.
func (s *WorkloadClusterSpec) Default() {
	orElse(&s.ProviderConfigRef.Kind, "ClusterProviderConfig")
	orElse(&s.ProviderConfigRef.Name, "default")
	orElse(&s.DeletionPolicy, DeletionDelete)
	s.ClusterDescription.Default()
}

func orElse(p *string, value string) {
	if *p == "" {
		*p = value
	}
}
