package v1alpha1

import "cmp"

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that equals the defaults of an
// empty spec.
func (s *ApplicationSpec) Default() {
	if s.Source != nil {
		s.defaultBuild()
	}
	s.Autoscaling.Default()
	for i := range s.Services {
		s.Services[i].Mount = cmp.Or(s.Services[i].Mount, new(true))
	}
	if r := s.Route; r != nil {
		r.Enabled = cmp.Or(r.Enabled, new(true))
		r.TLS = cmp.Or(r.TLS, new(false))
	}
	s.Deploy.Default()
}

// defaultBuild fills in how a source is built.
func (s *ApplicationSpec) defaultBuild() {
	s.Source.Default()
	s.Build = cmp.Or(s.Build, &Build{})
	s.Build.Default()
}

// Default applies the schema defaults.
func (b *Build) Default() {
	b.Settings.Default()
	if b.Updates == "" {
		b.Updates = UpdatesAutomatic
	}
}

// Default applies the schema defaults.
func (d *Deploy) Default() {
	d.Blueprint.Default()
	d.DeliveryConfig.Default()
	d.GatesConfig.Default()
	d.RollbackConfig.Default()
	d.Suspend = cmp.Or(d.Suspend, new(false))
}
