package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// Echo returns the kinds of events that the provider may record on top of the recorded state, or nil. The function leaves these kinds to the provider. A kind
// that goes forward is left out while the provider holds it back, or lacks the files for it, so that the function decides, if it runs.
func (f Facts) Echo(recorded ledger.State) *v1alpha1.MandateStatus {
	out := Status(f.Home.Spec.ForProvider.Mandate, recorded)
	if out == nil {
		return nil
	}
	if f.IsGuardRead {
		out.Hold = f.Held(recorded, recorded)
	}
	lacksFiles := recorded.Verdict == nil && !f.holdsFilesOfStep(recorded)
	out.May = slices.DeleteFunc(out.May, func(k step.Kind) bool {
		return k.GoesForward() && out.Hold != "" || k == step.KindAdvance && lacksFiles
	})
	if len(out.May) == 0 {
		return nil
	}
	return out
}
