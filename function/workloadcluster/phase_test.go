package workloadcluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// TestEveryPhaseReachesProvisionedAndFailed checks that a legal path leads from each phase to Provisioned and to Failed.
func TestEveryPhaseReachesProvisionedAndFailed(t *testing.T) {
	if diff := cmp.Diff(legalChanges(), phaseTable().Next); diff != "" {
		t.Errorf("table().Next: -want, +got:\n%s", diff)
	}
	for _, from := range allPhases {
		for _, target := range []v1alpha1.Phase{v1alpha1.PhaseProvisioned, v1alpha1.PhaseFailed} {
			through := phaseTable().Shortest(from, target, false)
			if from != target && (len(through) == 0 || through[len(through)-1] != target) {
				t.Errorf("from %q to %q: %v", from, target, through)
			}
		}
	}
}
