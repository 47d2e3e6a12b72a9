package bundle

import (
	"slices"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// A Row of the table of phases.
type Row struct {
	// Known describes the evidence for which the row matches. The documentation shows it.
	Known string

	// Phase of the Bundle.
	Phase v1alpha1.Phase

	matches func(*Facts) bool
	message func(*Facts) string
}

// Rows returns the table of phases: the first row that matches gives the phase. The last row always matches.
func Rows() []Row {
	return []Row{{
		Known:   "the spec cannot be compiled",
		Phase:   v1alpha1.PhaseFailed,
		matches: func(f *Facts) bool { return f.Problem != "" },
		message: func(f *Facts) string { return f.Problem },
	}, {
		Known:   "the provider has not processed the spec yet",
		Phase:   v1alpha1.PhasePending,
		matches: func(f *Facts) bool { return !f.isAboutCurrentSpec() },
		message: func(*Facts) string { return "The provider has not taken up the spec yet." },
	}, {
		Known:   "a package failed, or cannot be removed",
		Phase:   v1alpha1.PhaseFailed,
		matches: func(f *Facts) bool { return f.failedPackage() != nil },
		message: func(f *Facts) string { return describePackage(f.failedPackage()) },
	}, {
		Known:   "a package is being deployed or removed, or waits for another package",
		Phase:   v1alpha1.PhaseDeploying,
		matches: func(f *Facts) bool { return f.pendingPackage() != nil },
		message: (*Facts).pendingMessage,
	}, {
		Known:   "each package was deployed, and a package became unready",
		Phase:   v1alpha1.PhaseDegraded,
		matches: func(f *Facts) bool { return f.degradedPackage() != nil },
		message: func(f *Facts) string { return describePackage(f.degradedPackage()) },
	}, {
		Known:   "each package runs its current spec",
		Phase:   v1alpha1.PhaseSucceeded,
		matches: func(*Facts) bool { return true },
		message: (*Facts).succeededMessage,
	}}
}

// firstMatchingRow returns the first row that matches. The last row always does.
func (f *Facts) firstMatchingRow() Row {
	rows := Rows()
	return rows[slices.IndexFunc(rows, func(r Row) bool { return r.matches(f) })]
}

// phaseTable returns the legal changes of a phase.
func phaseTable() projection.Table[v1alpha1.Phase] {
	return projection.Table[v1alpha1.Phase]{Start: v1alpha1.PhasePending, Failed: v1alpha1.PhaseFailed, Next: v1alpha1.PhaseChanges()}
}

// Edges returns the legal changes of a phase. A new spec starts again at Pending from any phase.
func Edges() map[v1alpha1.Phase][]v1alpha1.Phase { return phaseTable().Next }
