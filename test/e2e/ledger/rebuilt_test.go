package ledger

import (
	"net/http"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
)

// TestOldObjects restores a cluster from a backup of before revisions were judged. The records in the repositories count: nothing is judged again,
// and nothing is delivered again.
func TestOldObjects(t *testing.T) {
	l := newLives(t)
	l.beginSecond()
	backup, err := cp.Backup(t.Context())
	l.plain.Must(err)
	l.finishSecond()
	l.wantFinished(0)
	heads := map[string]any{}
	for _, d := range l.allDeployments() {
		heads[d.Namespace] = d.recordedLedger().State.Head
	}

	// A restored claim has the spec of the first revision, which would be delivered: so the user applies the second revision before Crossplane runs.
	l.plain.Must(cp.Rebuild(t.Context(), backup, func() error {
		l.pauseComposites("crossplane.io/paused=true")
		for _, d := range l.allDeployments() {
			d.Apply(d.describeShop(2))
		}
		return nil
	}))
	for _, d := range l.allDeployments() {
		d.Inside("wait", "intentdeployments.claims.intentplane.dev", "--all", "--for=condition=Synced", "--timeout="+patience.Limit.String())
	}
	l.pauseComposites("crossplane.io/paused-")
	l.awaitSameEnds()
	l.wantFinished(0)
	for _, d := range l.allDeployments() {
		if now := d.recordedLedger().State.Head; now != heads[d.Namespace] {
			t.Errorf("head of the ledger: want %v as before, got %v", heads[d.Namespace], now)
		}
	}
}

// TestAllObjectsLost builds a cluster from the files of users, in the place of a lost cluster. A home that does not answer at first keeps the
// followers from deciding anything. Each directory names the new cluster, which costs a commit, and all verdicts are the previous verdicts.
func TestAllObjectsLost(t *testing.T) {
	l := newLives(t)
	l.beginSecond()
	l.finishSecond()
	l.wantFinished(0)
	formerOwner := l.plain.ownerOfState()
	l.plain.Must(cp.Rebuild(t.Context(), controlplane.Backup{}, nil))
	previous := l.plain.refsOfRepositories()
	l.plain.Git.Fail(l.plain.homeRepository(), http.StatusServiceUnavailable)
	for _, d := range l.allDeployments() {
		d.Run("create", "namespace", d.Namespace)
		for _, o := range d.applyOwnCatalog() {
			if o.GetKind() == "ClusterProviderConfig" {
				d.Set(o, formerOwner, "spec", "takeOverFrom")
			}
			d.Apply(o)
		}
		d.Apply(d.describeShop(2))
	}
	l.waves.awaitSucceeded(2)
	l.rejected.awaitRolledBack(2)
	l.plain.awaitReason(ledgerUnreachable)
	l.plain.wantUntouched(previous, l.plain.repositories...)
	l.plain.Git.Fail(l.plain.homeRepository(), 0)
	l.awaitSameEnds()
	l.wantFinished(1)
	for _, d := range l.allDeployments() {
		d.wantRevision(2)
	}
}
