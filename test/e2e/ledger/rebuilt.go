package ledger

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/scene"
)

// lives are the deployments of a lost cluster: a deployment that is verified in two repositories, one in three waves, and a third whose second
// revision was rejected and rolled back.
type lives struct{ plain, waves, rejected *deployment }

func newLives(t *testing.T) lives {
	t.Helper()
	l := lives{
		plain:    newDeployment(t, form{repositories: 2}),
		waves:    newDeployment(t, form{repositories: 3, waves: true}),
		rejected: newDeployment(t, form{repositories: 2, gated: true}),
	}
	for _, d := range l.allDeployments() {
		d.Apply(d.describeShop(1))
	}
	for _, d := range l.allDeployments() {
		d.awaitSucceeded(1)
	}
	return l
}

func (l lives) allDeployments() []*deployment { return []*deployment{l.plain, l.waves, l.rejected} }

// beginSecond begins second revisions that nothing judged yet, but for the deployment with waves.
func (l lives) beginSecond() {
	judges.setJudgeAnswer(l.rejected.Namespace, held)
	l.plain.Apply(l.plain.describeShop(2))
	l.rejected.awaitMeasuring(2)
	l.plain.awaitSucceeded(2)
}

// finishSecond finishes the second revisions.
func (l lives) finishSecond() {
	judges.setJudgeAnswer(l.rejected.Namespace, bad)
	l.waves.Apply(l.waves.describeShop(2))
	l.rejected.awaitRolledBack(2)
	l.waves.awaitSucceeded(2)
	judges.setJudgeAnswer(l.rejected.Namespace, good)
}

// wantFinished checks that all is as it was when the second revisions were finished, but for so many commits more in each repository.
func (l lives) wantFinished(extra int) {
	l.plain.wantLedgerOf(l.plain.ledgerAfterVerified(2), "2", 2+extra, 2+extra)
	l.waves.wantLedgerOf(l.waves.ledgerAfterVerified(2), "2", 2+extra, 2+extra, 2+extra)
	l.rejected.wantLedgerOf(l.rejected.ledgerAfterRollback(2, 1), "1", 3+extra, 3+extra)
}

// awaitSameEnds waits until all deployments report their previous outcomes again.
func (l lives) awaitSameEnds() {
	l.plain.awaitSucceeded(2)
	l.waves.awaitSucceeded(2)
	l.rejected.awaitRolledBack(2)
}

// pauseComposites, or do not pause any more, the composites of all deployments.
func (l lives) pauseComposites(annotation string) {
	for _, d := range l.allDeployments() {
		d.Run("annotate", "--overwrite", "xintentdeployments.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace="+d.Namespace, annotation)
	}
}

// ownerOfState is the cluster that writes the state of the home.
func (d *deployment) ownerOfState() string {
	d.T.Helper()
	uid, err := state.DecodeOwner([]byte(d.runGit(d.homeRepository(), "show", stateRef+":"+state.OwnerPath)))
	d.Must(err)
	return uid
}

// wantRevision compares the revision number in the claim's status.
func (d *deployment) wantRevision(want int64) {
	d.T.Helper()
	d.Await(d.describeShop(1), "its revision", func(u *unstructured.Unstructured) bool { return scene.Number(u, "status", "revision") == want })
}
