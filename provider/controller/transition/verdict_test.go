package transition

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
)

func TestStepReason(t *testing.T) {
	rejected := &observedStatus{Phase: "Failed"}
	rejected.Rollback.Reason = "GateFailed"
	cases := map[string]struct {
		reason   string
		step     change
		status   *observedStatus
		isLast   bool
		reported int64
		want     event.Reason
	}{
		"Verified": {
			reason: "A revision that was judged and succeeds was verified.",
			step:   change{From: "Validating", To: "Succeeded", Revision: 2}, want: "Verified",
		},
		"RolledBack": {
			reason: "A rollback that succeeds ends with the earlier revision.",
			step:   change{From: "RollingBack", To: "Succeeded", Revision: 2}, want: "RolledBack",
		},
		"Rejected": {reason: "A rollback begins with a rejection.", step: change{From: "Failed", To: "RollingBack", Revision: 2}, want: "Rejected"},
		"Held": {
			reason: "A rejection that nothing rolls back counts, too.",
			step:   change{From: "Validating", To: "Failed", Revision: 2}, status: rejected, isLast: true, want: "Rejected",
		},
		"Passed": {
			reason: "The phase that a rollback passes through is not the rejection.",
			step:   change{From: "Validating", To: "Failed", Revision: 2}, status: rejected, want: "PhaseTransition",
		},
		"Once": {
			reason: "A rejection that was reported is not reported again.",
			step:   change{From: "Failed", To: "RollingBack", Revision: 2}, reported: 2, want: "PhaseTransition",
		},
		"Invalid": {
			reason: "A spec that cannot be carried out is not a rejection.",
			step:   change{From: "Succeeded", To: "Failed", Revision: 2}, status: &observedStatus{Phase: "Failed"}, isLast: true,
			want: "PhaseTransition",
		},
		"Other": {reason: "A kind without revisions has no verdict.", step: change{From: "Validating", To: "Succeeded"}, want: "PhaseTransition"},
		"Step":  {reason: "An intermediate phase is not a verdict.", step: change{From: "Pending", To: "Delivering", Revision: 2}, want: "PhaseTransition"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.status == nil {
				tc.status = &observedStatus{}
			}
			if got := (&phaseLog{rejected: tc.reported}).eventReasonOfStep(step{change: tc.step}, tc.status, tc.isLast); got != tc.want {
				t.Errorf("\n%s\nstepReason(%v): want %s, got %s", tc.reason, tc.step, tc.want, got)
			}
		})
	}
}
