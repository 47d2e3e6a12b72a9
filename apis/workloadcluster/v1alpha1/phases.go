package v1alpha1

// PhaseChanges are the legal changes of a phase: the next phases of each phase. A Cluster that was made again under its name starts
// again at Pending from anywhere.
func PhaseChanges() map[Phase][]Phase {
	return map[Phase][]Phase{
		"":                {PhasePending},
		PhasePending:      {PhaseProvisioning, PhaseFailed},
		PhaseProvisioning: {PhaseProvisioned, PhaseDeleting, PhaseFailed},
		PhaseProvisioned:  {PhaseDegraded, PhaseDeleting},
		PhaseDegraded:     {PhaseProvisioned, PhaseDeleting},
		PhaseFailed:       {PhaseProvisioning, PhaseProvisioned, PhaseDeleting},
		PhaseDeleting:     {},
	}
}
