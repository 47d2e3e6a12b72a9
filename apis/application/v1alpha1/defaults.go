package v1alpha1

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that equals the defaults of an
// empty spec.
func (s *ApplicationSpec) Default() {
	if s.Source != nil {
		s.defaultBuild()
	}
	s.Autoscaling.Default()
	for i := range s.Services {
		orElse(&s.Services[i].Mount, true)
	}
	if r := s.Route; r != nil {
		orElse(&r.Enabled, true)
		orElse(&r.TLS, false)
	}
	s.Deploy.Default()
}

// defaultBuild fills in how a source is built.
func (s *ApplicationSpec) defaultBuild() {
	s.Source.Default()
	orElse(&s.Build, Build{})
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
	orElse(&d.Suspend, false)
}

func orElse[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
