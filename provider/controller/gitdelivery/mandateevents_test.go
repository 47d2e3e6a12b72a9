package gitdelivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestDescribeMandated has the reason and the message of the event about each event of a ledger that follows by a mandate.
func TestDescribeMandated(t *testing.T) {
	judged := func(v ledger.Verdict) ledger.Event { return ledger.Event{Judged: &ledger.Judged{Verdict: v}} }
	advanced := func(stage int32) ledger.Event { return ledger.Event{Advanced: &ledger.Advanced{Step: 1, Stage: stage}} }
	cases := map[string]struct {
		reason     string
		event      ledger.Event
		isRejected bool
		want       string
	}{
		"Verified": {
			reason: "A verified revision was proven.", event: judged(ledger.Verdict{Result: ledger.VerdictVerified}),
			want: "VerifiedByMandate: The revision was verified: each Site was proven to run it",
		},
		"Rejected": {
			reason: "A rejected revision has the reason of its verdict.",
			event:  judged(ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed", Message: "latency"}),
			want:   "RejectedByMandate: The revision was rejected: GateFailed: latency",
		},
		"Withdrawn": {
			reason: "A user names the target of a rollback.", event: ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 3, Message: "ann"}},
			want: "WithdrawnByMandate: A user rolls back to revision 3: ann",
		},
		"RolledBack": {
			reason: "An attempt has a target.", event: ledger.Event{RolledBack: &ledger.RolledBack{Target: 3}},
			want: "RolledBackByMandate: A rollback to revision 3 began",
		},
		"Promoted": {
			reason: "A RolloutRequest releases a step.", event: ledger.Event{Promoted: &ledger.Promoted{RequestRef: ledger.RequestReference{Name: "go"}}},
			want: "PromotedByMandate: RolloutRequest go released the next step",
		},
		"Wave": {
			reason: "A revision without tracks goes on in waves, and moves no requests.", event: advanced(ledger.StageClear),
			want: "AdvancedByMandate: Wave 2 of the revision began",
		},
		"Step": {
			reason: "A canary goes on in steps.", event: advanced(ledger.StageSteps), want: "AdvancedByMandate: Step 2 of the revision began",
		},
		"Before": {
			reason: "Requests leave an earlier canary first.", event: advanced(ledger.StageShift),
			want: "AdvancedByMandate: The requests go back to the stable revision, before the revision begins",
		},
		"Alone": {
			reason: "A verified canary is alone at last.", event: advanced(ledger.StageAlone),
			want: "AdvancedByMandate: The requests of the other track have ended, and its pods are removed",
		},
		"Beside": {
			reason: "The pods of a target start before they get requests.", event: advanced(ledger.StageBeside), isRejected: true,
			want: "AdvancedByMandate: The pods of the target start beside the pods of the revision",
		},
		"Shift": {
			reason: "A rollback moves the requests.", event: advanced(ledger.StageShift), isRejected: true,
			want: "AdvancedByMandate: The requests go back to the target",
		},
		"Restoring": {
			reason: "A rollback restores trees after the requests have ended.", event: advanced(ledger.StageSteps), isRejected: true,
			want: "AdvancedByMandate: The requests have ended, and the trees of the target are restored",
		},
		"Restored": {
			reason: "A rollback ends with its proof.", event: ledger.Event{Restored: &ledger.Restored{}}, isRejected: true,
			want: "RestoredByMandate: Each Site was proven to run the restored trees",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := describeMandated(tc.event, tc.isRejected)
			if diff := cmp.Diff(tc.want, string(got.reason)+": "+got.message); diff != "" {
				t.Errorf("\n%s\ndescribeMandated(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
