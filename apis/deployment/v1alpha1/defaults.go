package v1alpha1

import "cmp"

// Default applies the schema defaults to a spec that did not pass through an API server. Digests leave out each field that
// equals the defaults of an empty spec.
func (s *IntentDeploymentSpec) Default() {
	s.CompileConfig.Engine = cmp.Or(s.CompileConfig.Engine, "kustomize")
	s.CompileConfig.RenderTimeout = cmp.Or(s.CompileConfig.RenderTimeout, "10s")
	s.Blueprint.Default()
	s.Suspend = cmp.Or(s.Suspend, new(false))
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
	e.Type, e.Priority = cmp.Or(e.Type, "web"), cmp.Or(e.Priority, "medium")
	e.Replicas = cmp.Or(e.Replicas, new(Replicas(1)))
	for i := range e.Endpoints {
		e.Endpoints[i].Protocol = cmp.Or(e.Endpoints[i].Protocol, "TCP")
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
	a.Min, a.CPUPercent = cmp.Or(a.Min, 1), cmp.Or(a.CPUPercent, 70)
}

// Default applies the schema defaults.
func (b *BlueprintChoice) Default() {
	b.Channel, b.UpdatePolicy = cmp.Or(b.Channel, "stable"), cmp.Or(b.UpdatePolicy, "Automatic")
}

// Default applies the schema defaults.
func (d *DeliveryConfig) Default() {
	d.GitOpsRepo.Kind, d.GitOpsRepo.Name = cmp.Or(d.GitOpsRepo.Kind, "ClusterProviderConfig"), cmp.Or(d.GitOpsRepo.Name, "default")
	if r := d.LedgerConfigRef; r != nil {
		r.Kind, r.Name = cmp.Or(r.Kind, "ClusterProviderConfig"), cmp.Or(r.Name, "default")
	}
	d.DriftPolicy = cmp.Or(d.DriftPolicy, "Restore")
	d.DeliveryTimeout, d.SyncWaitTimeout = cmp.Or(d.DeliveryTimeout, "10m"), cmp.Or(d.SyncWaitTimeout, "10m")
	d.ClusterWaitTimeout = cmp.Or(d.ClusterWaitTimeout, "30m")
	d.DeletionPolicy = cmp.Or(d.DeletionPolicy, DeletionRemoveFromGit)
	d.Adopt = cmp.Or(d.Adopt, new(false))
}

// Default applies the schema defaults.
func (g *GatesConfig) Default() {
	g.Enabled = cmp.Or(g.Enabled, new(true))
	g.MetricsUnavailableTimeout = cmp.Or(g.MetricsUnavailableTimeout, DefaultMetricsUnavailableTimeout)
	g.OnMetricsUnavailable = cmp.Or(g.OnMetricsUnavailable, DefaultOnMetricsUnavailable)
	for i := range g.Checks {
		g.Checks[i].Default()
	}
	if g.PostCheck != nil {
		g.PostCheck.Timeout = cmp.Or(g.PostCheck.Timeout, "5m")
	}
}

// Default applies the schema defaults.
func (c *Check) Default() {
	c.InitialDelay, c.Interval, c.Timeout = cmp.Or(c.InitialDelay, "30s"), cmp.Or(c.Interval, "30s"), cmp.Or(c.Timeout, "5m")
	c.NoData = cmp.Or(c.NoData, "Fail")
	c.Count, c.MinSamples = cmp.Or(c.Count, new(int32(3))), cmp.Or(c.MinSamples, new(int32(1)))
	c.FailureLimit, c.InconclusiveLimit = cmp.Or(c.FailureLimit, new(int32(0))), cmp.Or(c.InconclusiveLimit, new(int32(0)))
	c.ConsecutiveErrorLimit = cmp.Or(c.ConsecutiveErrorLimit, new(int32(4)))
	if c.Availability != nil {
		c.Availability.MinAvailable = cmp.Or(c.Availability.MinAvailable, new(int32(1)))
	}
}

// Default applies the schema defaults.
func (r *RollbackConfig) Default() {
	r.AttemptTimeout = cmp.Or(r.AttemptTimeout, "5m")
	r.AutoRollback, r.RetainFailedArtifacts = cmp.Or(r.AutoRollback, new(true)), cmp.Or(r.RetainFailedArtifacts, new(false))
	r.MaxRetries, r.MaxPerHour = cmp.Or(r.MaxRetries, new(int32(3))), cmp.Or(r.MaxPerHour, new(int32(3)))
}
