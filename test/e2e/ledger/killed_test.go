package ledger

import (
	"testing"

	"github.com/intentplane/intentplane/test/soak"
)

// TestKilledAroundPushes kills the provider around each push of a first revision, and of a revision that is rejected and rolled back: before the repository
// accepts the push (each second push, and each push under make soak), and after it, before the answer. A pushed commit is not pushed again, and the
// ledger equals the ledger of a provider which lives.
func TestKilledAroundPushes(t *testing.T) {
	d := newDeployment(t, form{repositories: 2, gated: true})
	end := d.killAtPushes(map[bool]int{true: 1, false: 2}[soak.Long()])
	judges.setJudgeAnswer(d.Namespace, good)
	d.awaitSucceeded(1)
	judges.setJudgeAnswer(d.Namespace, held)
	d.awaitMeasuring(2)
	judges.setJudgeAnswer(d.Namespace, bad)
	d.awaitRolledBack(2)
	end()
	d.wantLedgerOf(d.ledgerAfterRollback(2, 1), "1", 3, 3)
	d.wantPushes("0: 1.0.0", "1: 1.0.0", "0: 1.0.0 Verified", "0: 2.0.0", "1: 2.0.0", "0: 2.1.0 Rejected", "1: 2.1.0", "0: 2.1.0 Rejected restored")
	judges.setJudgeAnswer(d.Namespace, good)
	d.awaitSucceeded(3)
	d.wantLedgerSummary(d.ledgerAfterVerified(3))
	d.awaitReplicas("3")
}
