package v1alpha1

import "cmp"

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that equals the defaults of an
// empty spec.
func (s *BundleSpec) Default() {
	for i := range s.Packages {
		s.Packages[i].Default()
	}
	s.Prune, s.PruneMinAge = cmp.Or(s.Prune, PruneNever), cmp.Or(s.PruneMinAge, "1h")
	s.DeletionPolicy = cmp.Or(s.DeletionPolicy, DeletionRemove)
	orElse(&s.Suspend, false)
}

// Default applies the schema defaults.
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
