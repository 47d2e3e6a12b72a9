package v1alpha1

// PhaseChanges are the legal changes of a phase: the next phases of each phase. A new spec starts again at Pending from anywhere.
func PhaseChanges() map[Phase][]Phase {
	return map[Phase][]Phase{
		"":             {PhasePending},
		PhasePending:   {PhaseDeploying, PhaseFailed},
		PhaseDeploying: {PhaseSucceeded, PhaseFailed},
		PhaseSucceeded: {PhaseDegraded, PhaseDeploying},
		PhaseDegraded:  {PhaseSucceeded, PhaseDeploying},
		PhaseFailed:    {PhaseDeploying},
	}
}
