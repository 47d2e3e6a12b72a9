package application

import (
	"slices"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// A Row of the table of phases.
type Row struct {
	// Known describes the evidence for which the row matches. The documentation shows it.
	Known string

	// Phase of the Application.
	Phase v1alpha1.Phase

	matches func(*Facts) bool
	message func(*Facts) string
}

// Rows returns the table of phases: the first row that matches gives the phase. The last row always matches.
func Rows() []Row {
	return []Row{{
		Known:   "the spec cannot be compiled, or is refused",
		Phase:   v1alpha1.PhaseFailed,
		matches: func(f *Facts) bool { return f.Problem != "" },
		message: func(f *Facts) string { return f.Problem },
	}, {
		Known:   "an object that the spec names is missing, or the deployment has not processed the spec yet, or holds it back",
		Phase:   v1alpha1.PhasePending,
		matches: func(f *Facts) bool { return f.Missing != "" || f.awaitsImageReport() },
		message: (*Facts).pendingMessage,
	}, {
		Known:   "the build of the current spec failed, and the spec has no image",
		Phase:   v1alpha1.PhaseFailed,
		matches: (*Facts).hasBuildFailed,
		message: (*Facts).buildMessage,
	}, {
		Known:   "the current spec has no image yet",
		Phase:   v1alpha1.PhaseBuilding,
		matches: func(f *Facts) bool { return !f.hasWantedImage() },
		message: (*Facts).buildMessage,
	}, {
		Known:   "the revision with the image was rolled back",
		Phase:   v1alpha1.PhaseDegraded,
		matches: (*Facts).wasRolledBack,
		message: (*Facts).rolledBackMessage,
	}, {
		Known:   "the deployment of the image failed",
		Phase:   v1alpha1.PhaseFailed,
		matches: (*Facts).hasDeploymentFailed,
		message: (*Facts).failedMessage,
	}, {
		Known:   "the deployment `Succeeded`, and each Site has an available pod of the image, or needs no pods",
		Phase:   v1alpha1.PhaseRunning,
		matches: func(f *Facts) bool { return f.hasSucceeded() && f.isServedEverywhere() },
		message: (*Facts).runningMessage,
	}, {
		Known:   "the deployment `Succeeded`, some Sites have an available pod of the image, and the other Sites have no such pod or cannot be observed",
		Phase:   v1alpha1.PhaseDegraded,
		matches: func(f *Facts) bool { return f.hasSucceeded() && f.isServedSomewhere() },
		message: (*Facts).unavailableMessage,
	}, {
		Known:   "the image is being delivered or judged, or no Site has an observed available pod of it",
		Phase:   v1alpha1.PhaseDeploying,
		matches: func(*Facts) bool { return true },
		message: (*Facts).deployingMessage,
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

// Edges returns the legal changes of a phase. A new spec, commit or image starts again at Pending from any phase.
func Edges() map[v1alpha1.Phase][]v1alpha1.Phase { return phaseTable().Next }
