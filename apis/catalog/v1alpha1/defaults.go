package v1alpha1

// Default applies the schema defaults to a Site that did not pass through an API server.
func (s *SiteSpec) Default() {
	if s.Engine.Location == "" {
		s.Engine.Location = "Site"
	}
	if s.Engine.AcceptProof == "" {
		s.Engine.AcceptProof = "Exact"
	}
	if s.Repository.Layout == "" {
		s.Repository.Layout = LayoutKustomization
	}
	if s.TargetNamespaces.Allowed == nil {
		s.TargetNamespaces.Allowed = []string{"{claimNamespace}"}
	}
	if s.TargetNamespaces.ClusterScoped == "" {
		s.TargetNamespaces.ClusterScoped = ClusterScopedDeny
	}
}
