package ledger

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/scene"
)

// lives are deployments that a cluster is lost with: one that is verified in two repositories, one in three waves, and one whose second revision was
// rejected and rolled back.
type lives struct{ plain, waves, rejected *deployment }

func newLives(t *testing.T) lives {
	t.Helper()
	l := lives{
		plain:    newDeployment(t, form{repositories: 2}),
		waves:    newDeployment(t, form{repositories: 3, waves: true}),
		rejected: newDeployment(t, form{repositories: 2, gated: true}),
	}
	for _, d := range l.all() {
		d.Apply(d.shop(1))
	}
	for _, d := range l.all() {
		d.succeed(1)
	}
	return l
}

func (l lives) all() []*deployment { return []*deployment{l.plain, l.waves, l.rejected} }

// begin second revisions that nothing judged yet, but for the one with waves.
func (l lives) begin() {
	judges.set(l.rejected.Namespace, held)
	l.plain.Apply(l.plain.shop(2))
	l.rejected.measuring(2)
	l.plain.succeed(2)
}

// finish the second revisions.
func (l lives) finish() {
	judges.set(l.rejected.Namespace, bad)
	l.waves.Apply(l.waves.shop(2))
	l.rejected.rolledBack(2)
	l.waves.succeed(2)
	judges.set(l.rejected.Namespace, good)
}

// wantFinished checks that all is as it was when the second revisions were finished, but for so many commits more in each repository.
func (l lives) wantFinished(more int) {
	l.plain.want(l.plain.verified(2), "2", 2+more, 2+more)
	l.waves.want(l.waves.verified(2), "2", 2+more, 2+more, 2+more)
	l.rejected.want(l.rejected.restored(2, 1), "1", 3+more, 3+more)
}

// await that all deployments say again how they ended.
func (l lives) await() {
	l.plain.succeed(2)
	l.waves.succeed(2)
	l.rejected.rolledBack(2)
}

// pause, or do not pause any more, the composites of all deployments.
func (l lives) pause(annotation string) {
	for _, d := range l.all() {
		d.Run("annotate", "--overwrite", "xintentdeployments.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace="+d.Namespace, annotation)
	}
}

// owner is the cluster that writes the state of the home.
func (d *deployment) owner() string {
	d.T.Helper()
	uid, err := state.DecodeOwner([]byte(d.git(d.home(), "show", stateRef+":"+state.OwnerPath)))
	d.must(err)
	return uid
}

// wantRevision compares the number of the revision that the claim says it has.
func (d *deployment) wantRevision(want int64) {
	d.T.Helper()
	d.Await(d.shop(1), "its revision", func(u *unstructured.Unstructured) bool { return scene.Number(u, "status", "revision") == want })
}
