package ledger

import (
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestLostRecords removes from repositories the records of a deployment, or all their content, or restores an old backup of them. Verdicts and numbers
// survive, each Site gets its previous trees, and the deployment continues.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		form   form
		lose   func(d *deployment, backup map[string]map[string]string)
		// epoch in which the ledger continues.
		epoch int64
	}{
		"HomeState": {
			reason: "After the loss of its state a home continues from the state of the cluster, in the next epoch.",
			form:   form{repositories: 2}, epoch: 2,
			lose: func(d *deployment, _ map[string]map[string]string) {
				d.runGit(d.homeRepository(), "update-ref", "-d", stateRef)
			},
		},
		"Home": {
			reason: "A recreated home continues from the state of the cluster, in the next epoch, and gets the files again.",
			form:   form{repositories: 2, reapply: true}, epoch: 2,
			lose: func(d *deployment, _ map[string]map[string]string) { d.remakeRepository(d.homeRepository()) },
		},
		"HomeOld": {
			reason: "A home restored from a backup of the first revision continues from the state of the cluster, in the next epoch.",
			form:   form{repositories: 3, reapply: true}, epoch: 2,
			lose: func(d *deployment, backup map[string]map[string]string) { d.restoreRefs(d.homeRepository(), backup) },
		},
		"FollowerState": {
			reason: "A follower that lost its state gets its record again, and the ledger stays in its epoch.",
			form:   form{repositories: 2}, epoch: 1,
			lose: func(d *deployment, _ map[string]map[string]string) {
				d.runGit(d.repositories[1], "update-ref", "-d", stateRef)
			},
		},
		"Follower": {
			reason: "A follower that was created again gets its files and its record again, and the ledger stays in its epoch.",
			form:   form{repositories: 3, reapply: true}, epoch: 1,
			lose: func(d *deployment, _ map[string]map[string]string) { d.remakeRepository(d.repositories[1]) },
		},
		"FollowerOld": {
			reason: "A follower that was restored from a backup of the first revision gets the second one again.",
			form:   form{repositories: 2, reapply: true}, epoch: 1,
			lose: func(d *deployment, backup map[string]map[string]string) { d.restoreRefs(d.repositories[1], backup) },
		},
		"AllOld": {
			reason: "Where all repositories were restored from backups of the first revision, the second revision is delivered again, and stays verified.",
			form:   form{repositories: 2, reapply: true}, epoch: 2,
			lose: func(d *deployment, backup map[string]map[string]string) {
				d.restoreRefs(d.homeRepository(), backup)
				d.restoreRefs(d.repositories[1], backup)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			backup := d.refsOfRepositories()
			d.awaitSucceeded(2)
			d.pushes.allowLostHome()
			tc.lose(d, backup)
			d.awaitLedger("goes on after the loss", func(s ledger.State) bool { return s.Epoch == tc.epoch && s.Current.Number == 2 })
			d.awaitRecords(tc.epoch, 2)
			d.wantLedgerSummary(d.ledgerAfterVerified(2).summaryInEpoch(tc.epoch))
			d.wantHistory(1, 2)
			d.awaitReplicas("2")

			d.awaitSucceeded(3)
			d.wantLedgerSummary(d.ledgerAfterVerified(3).summaryInEpoch(tc.epoch))
			d.wantHistory(1, 2, 3)
			d.awaitReplicas("3")
			d.wantInvariants()
		})
	}
}

// TestRejectionSurvives restores the home from a backup of before the rejection of its revision. The rejected revision stays rejected, although the
// judge accepts it by now, and the files are the files of the first revision.
func TestRejectionSurvives(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 2, gated: true, reapply: true})
	d.awaitSucceeded(1)
	judges.setJudgeAnswer(d.Namespace, held)
	d.awaitMeasuring(2)
	backup := d.refsOfRepositories()
	judges.setJudgeAnswer(d.Namespace, bad)
	d.awaitRolledBack(2)
	judges.setJudgeAnswer(d.Namespace, good)
	d.pushes.allowLostHome()
	d.restoreRefs(d.homeRepository(), backup)
	d.awaitLedger("knows the rejection again", func(s ledger.State) bool { return s.Epoch == 2 && s.IsRejected() && s.Restored })
	d.awaitReplicas("1")
	d.wantLedgerSummary(d.ledgerAfterRollback(2, 1).summaryInEpoch(2))
	d.awaitRolledBack(2)
	d.awaitSucceeded(3)
	d.wantLedgerSummary(d.ledgerAfterVerified(3).summaryInEpoch(2))
	d.awaitReplicas("3")
	d.wantInvariants()
}
