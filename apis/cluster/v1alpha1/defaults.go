package v1alpha1

// Default applies the schema defaults to a description that did not pass through an API server.
func (d *ClusterDescription) Default() {
	orElsePtr(&d.Readiness.StabilizationSeconds, 10)
	orElse(&d.Timeouts.Infrastructure, "15m")
	orElse(&d.Timeouts.ControlPlane, "30m")
	orElse(&d.Timeouts.Deletion, "60m")
	orElsePtr(&d.DeletionProtection, true)
	if d.CAPT != nil && d.CAPT.ControlPlane.EndpointAccess != nil {
		orElsePtr(&d.CAPT.ControlPlane.EndpointAccess.Public, true)
		orElsePtr(&d.CAPT.ControlPlane.EndpointAccess.Private, true)
	}
	if e := d.Site.Engine; e != nil {
		orElse(&e.Location, "Site")
		orElse(&e.AcceptProof, "Exact")
		orElsePtr(&e.UnobservedIsLive, false)
	}
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
