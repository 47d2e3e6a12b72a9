package v1alpha1

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that
// equals the defaults of an empty spec.
func (s *IntentDeploymentSpec) Default() {
	orElse(&s.CompileConfig.Engine, "kustomize")
	orElse(&s.CompileConfig.RenderTimeout, "10s")
	s.Blueprint.Default()
	orElsePtr(&s.Suspend, false)
	s.Expectation.Default()
	s.DeliveryConfig.Default()
	s.GatesConfig.Default()
	s.RollbackConfig.Default()
}

// Default applies the schema defaults.
func (e *Expectation) Default() {
	if e == nil {
		return
	}
	orElse(&e.Type, "web")
	orElse(&e.Priority, "medium")
	orElsePtr(&e.Replicas, 1)
	for i := range e.Endpoints {
		orElse(&e.Endpoints[i].Protocol, "TCP")
	}
	if e.Runtime != nil {
		e.Runtime.Autoscaling.Default()
	}
}

// Default applies the schema defaults.
func (a *Autoscaling) Default() {
	if a == nil {
		return
	}
	if a.Min == 0 {
		a.Min = 1
	}
	if a.CPUPercent == 0 {
		a.CPUPercent = 70
	}
}

// Default applies the schema defaults.
func (b *BlueprintChoice) Default() {
	orElse(&b.Channel, "stable")
	orElse(&b.UpdatePolicy, "Automatic")
}

// Default applies the schema defaults.
func (d *DeliveryConfig) Default() {
	orElse(&d.GitOpsRepo.Kind, "ClusterProviderConfig")
	orElse(&d.GitOpsRepo.Name, "default")
	if r := d.LedgerConfigRef; r != nil {
		orElse(&r.Kind, "ClusterProviderConfig")
		orElse(&r.Name, "default")
	}
	orElse(&d.DriftPolicy, "Restore")
	orElse(&d.DeliveryTimeout, "10m")
	orElse(&d.SyncWaitTimeout, "10m")
	orElse(&d.ClusterWaitTimeout, "30m")
	orElse(&d.DeletionPolicy, DeletionRemoveFromGit)
	orElsePtr(&d.Adopt, false)
}

// Default applies the schema defaults.
func (g *GatesConfig) Default() {
	orElsePtr(&g.Enabled, true)
	orElse(&g.MetricsUnavailableTimeout, DefaultMetricsUnavailableTimeout)
	orElse(&g.OnMetricsUnavailable, DefaultOnMetricsUnavailable)
	for i := range g.Checks {
		g.Checks[i].Default()
	}
	if g.PostCheck != nil {
		orElse(&g.PostCheck.Timeout, "5m")
	}
}

// Default applies the schema defaults.
func (c *Check) Default() {
	orElse(&c.InitialDelay, "30s")
	orElse(&c.Interval, "30s")
	orElse(&c.NoData, "Fail")
	orElse(&c.Timeout, "5m")
	orElsePtr(&c.Count, 3)
	orElsePtr(&c.FailureLimit, 0)
	orElsePtr(&c.ConsecutiveErrorLimit, 4)
	orElsePtr(&c.InconclusiveLimit, 0)
	orElsePtr(&c.MinSamples, 1)
	if c.Availability != nil {
		orElsePtr(&c.Availability.MinAvailable, 1)
	}
}

// Default applies the schema defaults.
func (r *RollbackConfig) Default() {
	orElse(&r.AttemptTimeout, "5m")
	orElsePtr(&r.AutoRollback, true)
	orElsePtr(&r.MaxRetries, 3)
	orElsePtr(&r.MaxPerHour, 3)
	orElsePtr(&r.RetainFailedArtifacts, false)
}

func orElse[T ~string](p *T, value T) {
	if *p == "" {
		*p = value
	}
}

func orElsePtr[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
