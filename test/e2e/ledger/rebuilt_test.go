package ledger

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/controlplane"
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

// TestOldObjects brings back a cluster from a backup of before revisions were judged. What the repositories record counts: nothing is judged again,
// and nothing is delivered again.
func TestOldObjects(t *testing.T) {
	l := newLives(t)
	l.begin()
	backup, err := cp.Backup(t.Context())
	l.plain.must(err)
	l.finish()
	l.wantFinished(0)
	heads := map[string]any{}
	for _, d := range l.all() {
		heads[d.Namespace] = d.recorded().State.Head
	}

	// A claim that was restored says the first revision, and it is the user's word: so the user applies the second one before anything runs.
	l.plain.must(cp.Rebuild(t.Context(), backup, func() error {
		l.pause("crossplane.io/paused=true")
		for _, d := range l.all() {
			d.Apply(d.shop(2))
		}
		return nil
	}))
	for _, d := range l.all() {
		d.Inside("wait", "intentdeployments.claims.intentplane.dev", "--all", "--for=condition=Synced", "--timeout="+scene.Patience.String())
	}
	l.pause("crossplane.io/paused-")
	l.await()
	l.wantFinished(0)
	for _, d := range l.all() {
		if now := d.recorded().State.Head; now != heads[d.Namespace] {
			t.Errorf("head of the ledger: want %v as before, got %v", heads[d.Namespace], now)
		}
	}
}

// pause, or do not pause any more, the composites of all deployments.
func (l lives) pause(annotation string) {
	for _, d := range l.all() {
		d.Run("annotate", "--overwrite", "xintentdeployments.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace="+d.Namespace, annotation)
	}
}

// TestAllObjectsLost builds a cluster from what users have in files, in the place of one that is gone. A home that does not answer at first keeps the
// followers from deciding anything. Each directory names the new cluster, which costs a commit, and all verdicts are those of before.
func TestAllObjectsLost(t *testing.T) {
	l := newLives(t)
	l.begin()
	l.finish()
	l.wantFinished(0)
	gone := l.plain.owner()
	l.plain.must(cp.Rebuild(t.Context(), controlplane.Backup{}, nil))
	before := l.plain.refs()
	l.plain.Git.Fail(l.plain.home(), http.StatusServiceUnavailable)
	for _, d := range l.all() {
		d.Run("create", "namespace", d.Namespace)
		for _, o := range d.catalog() {
			if o.GetKind() == "ClusterProviderConfig" {
				d.Set(o, gone, "spec", "takeOverFrom")
			}
			d.Apply(o)
		}
		d.Apply(d.shop(2))
	}
	l.waves.succeed(2)
	l.rejected.rolledBack(2)
	l.plain.awaitReason(ledgerUnreachable)
	l.plain.wantUntouched(before, l.plain.repositories...)
	l.plain.Git.Fail(l.plain.home(), 0)
	l.await()
	l.wantFinished(1)
	for _, d := range l.all() {
		d.wantRevision(2)
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
