package v1alpha1

// PhaseChanges are the legal changes of a phase: the next phases of each phase. A new spec, commit or image starts again at Pending from
// anywhere.
func PhaseChanges() map[Phase][]Phase {
	return map[Phase][]Phase{
		"":             {PhasePending},
		PhasePending:   {PhaseBuilding, PhaseDeploying, PhaseFailed},
		PhaseBuilding:  {PhaseDeploying, PhaseFailed},
		PhaseDeploying: {PhaseRunning, PhaseDegraded, PhaseFailed},
		PhaseRunning:   {PhaseDeploying, PhaseDegraded},
		PhaseDegraded:  {PhaseRunning, PhaseDeploying, PhaseFailed},
		PhaseFailed:    {PhaseBuilding, PhaseDeploying},
	}
}
