package v1alpha1

// Default applies the schema defaults to a description that did not pass through an API server.
func (d *ClusterDescription) Default() {
	setDefaultPointer(&d.Readiness.StabilizationSeconds, 10)
	setDefaultText(&d.Timeouts.Infrastructure, "15m")
	setDefaultText(&d.Timeouts.ControlPlane, "30m")
	setDefaultText(&d.Timeouts.Deletion, "60m")
	setDefaultPointer(&d.DeletionProtection, true)
	if d.CAPT != nil && d.CAPT.ControlPlane.EndpointAccess != nil {
		setDefaultPointer(&d.CAPT.ControlPlane.EndpointAccess.Public, true)
		setDefaultPointer(&d.CAPT.ControlPlane.EndpointAccess.Private, true)
	}
	if e := d.Site.Engine; e != nil {
		setDefaultText(&e.Location, "Site")
		setDefaultText(&e.AcceptProof, "Exact")
		setDefaultPointer(&e.UnobservedIsLive, false)
	}
}

func setDefaultText[T ~string](p *T, value T) {
	if *p == "" {
		*p = value
	}
}

func setDefaultPointer[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
