package v1alpha1

import "cmp"

// Default fills in what the schema would, for specs that did not pass through an API server. Its outcome for an empty spec is also what digests leave
// out.
func (s *BundleSpec) Default() {
	for i := range s.Packages {
		s.Packages[i].Default()
	}
	s.Prune, s.PruneMinAge = cmp.Or(s.Prune, PruneNever), cmp.Or(s.PruneMinAge, "1h")
	s.DeletionPolicy = cmp.Or(s.DeletionPolicy, DeletionRemove)
	orElse(&s.Suspend, false)
}

// Default fills in what the schema would.
func (p *Package) Default() {
	orElse(&p.Enabled, true)
	orElse(&p.Adopt, false)
	if p.Existing == nil {
		return
	}
	if p.Existing.Kind == "" {
		p.Existing.Kind = "IntentDeployment"
	}
	if p.Existing.Group == "" {
		p.Existing.Group = GroupNamespaced
	}
}

func orElse[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
