package v1alpha1

// Default fills in what the schema would, for specs that did not pass through an API server. Its outcome for an empty spec is also
// what digests leave out.
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
