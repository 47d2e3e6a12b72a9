package v1alpha1

// PhaseChanges are the legal changes of a phase: the next phases of each phase. A deployment starts again at Pending from anywhere.
func PhaseChanges() map[Phase][]Phase {
	return map[Phase][]Phase{
		"":               {PhasePending},
		PhasePending:     {PhaseCompiling, PhaseFailed},
		PhaseCompiling:   {PhaseRendering, PhaseFailed},
		PhaseRendering:   {PhaseDelivering, PhaseFailed},
		PhaseDelivering:  {PhaseValidating, PhaseFailed},
		PhaseValidating:  {PhaseSucceeded, PhaseFailed},
		PhaseFailed:      {PhaseRollingBack},
		PhaseRollingBack: {PhaseSucceeded, PhaseFailed},
		PhaseSucceeded:   {},
	}
}
