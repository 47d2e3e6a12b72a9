package phase

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestLogOfHiddenRejection rejects a revision while the phase is Failed for another reason. The log says so once.
func TestLogOfHiddenRejection(t *testing.T) {
	const rendering, delivering, validating, failed = v1alpha1.PhaseRendering, v1alpha1.PhaseDelivering, v1alpha1.PhaseValidating, v1alpha1.PhaseFailed
	type look struct {
		phase v1alpha1.Phase
		path  phasePath
	}
	judged := look{phase: validating}
	problem := look{phase: failed, path: phasePath{failedIn: rendering}}
	conflict := look{phase: failed, path: phasePath{failedIn: delivering}}
	rejected := look{phase: failed, path: phasePath{failedIn: validating, rejected: rolloutv1alpha1.RejectedGateFailed}}
	blocked := look{phase: failed, path: phasePath{failedIn: delivering, rejected: rolloutv1alpha1.RejectedSyncFailed}}
	rolledBack := look{phase: v1alpha1.PhaseSucceeded, path: rejected.path}
	rolledBack.path.isRolledBack, rolledBack.path.target = true, 4
	upgraded := rejected
	upgraded.path.epoch = 3
	unrestored := look{phase: failed, path: rolledBack.path}
	cases := map[string]struct {
		reason string
		looks  []look
		want   []string
	}{
		"Problem": {
			reason: "A rejection that a problem hid is logged when the problem ends, once.", looks: []look{judged, problem, problem, rejected, rejected},
			want: []string{"Failed ", "Pending ", "Compiling ", "Rendering ", "Delivering ", "Validating ", "Failed GateFailed"},
		},
		"Conflict": {
			reason: "A rejection after a conflict is logged, once.", looks: []look{{phase: delivering}, conflict, blocked, blocked},
			want: []string{"Failed ", "Pending ", "Compiling ", "Rendering ", "Delivering ", "Failed SyncFailed"},
		},
		"RolledBack": {
			reason: "A rollback that a problem hid goes on from the failure.", looks: []look{judged, problem, rolledBack, rolledBack},
			want: []string{"Failed ", "RollingBack ", "Succeeded GateFailed"},
		},
		"NotRestored": {
			reason: "A rollback that failed behind a problem is logged, once.", looks: []look{judged, problem, unrestored, unrestored},
			want: []string{"Failed ", "Pending ", "Compiling ", "Rendering ", "Delivering ", "Validating ", "Failed GateFailed", "RollingBack ", "Failed GateFailed"},
		},
		"Upgraded": {
			reason: "A failure that an older function logged is not logged again.",
			looks:  []look{judged, rejected, upgraded}, want: []string{"Failed GateFailed"},
		},
		"Older": {
			reason: "An older function did not say that a failure was a rejection, and this one does not either.",
			looks:  []look{judged, problem, upgraded}, want: []string{"Failed "},
		},
		"Flapping": {
			reason: "A problem after the rejection says nothing new, and neither does its end.",
			looks:  []look{judged, rejected, problem, rejected}, want: []string{"Failed GateFailed"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status, begun := v1alpha1.IntentDeploymentStatus{}, 0
			for i, l := range tc.looks {
				next := v1alpha1.IntentDeploymentStatus{Phase: l.phase, IntentDigest: "d", Revision: 6}
				next.Transitions = Log(&status, &next, l.path, now)
				checkTransitions(t, &v1alpha1.IntentDeploymentStatus{}, &next)
				if status = next; i == 0 {
					begun = len(next.Transitions)
				}
			}
			var got []string
			for _, tr := range status.Transitions[begun:] {
				got = append(got, fmt.Sprintf("%s %s", tr.To, tr.Rejected))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLog(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLogOfEpoch says on the changes that end a revision which epoch of the ledger the revision belongs to.
func TestLogOfEpoch(t *testing.T) {
	path := phasePath{failedIn: v1alpha1.PhaseDelivering, isRolledBack: true, rejected: rolloutv1alpha1.RejectedSyncFailed, target: 4, epoch: 3}
	last := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseDelivering, IntentDigest: "d", Revision: 6}
	next := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseSucceeded, IntentDigest: "d", Revision: 6}
	var got []string
	for _, tr := range Log(&last, &next, path, now) {
		got = append(got, fmt.Sprintf("%s %d", tr.To, tr.Epoch))
	}
	if diff := cmp.Diff([]string{"Failed 3", "RollingBack 0", "Succeeded 3"}, got); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
	f := &Input{}
	f.State.Epoch = 3
	if epoch := phasePathOf(f).epoch; epoch != 0 {
		t.Errorf("phasePathOf(...): epoch %d without a revision", epoch)
	}
	f.State.Current = newRevision(2)
	if epoch := phasePathOf(f).epoch; epoch != 3 {
		t.Errorf("phasePathOf(...): epoch %d, want the epoch of the ledger", epoch)
	}
}
