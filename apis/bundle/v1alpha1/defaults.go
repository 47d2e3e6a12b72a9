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
	s.Suspend = cmp.Or(s.Suspend, new(false))
}

// Default applies the schema defaults.
func (p *Package) Default() {
	p.Enabled = cmp.Or(p.Enabled, new(true))
	p.Adopt = cmp.Or(p.Adopt, new(false))
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
