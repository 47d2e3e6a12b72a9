package ledger

import (
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/patience"
)

// awaitLedger waits until the ledger of the home fulfils a condition.
func (d *deployment) awaitLedger(description string, condition func(s ledger.State) bool) {
	d.T.Helper()
	last := summary{}
	defer func() {
		if d.T.Failed() {
			d.T.Logf("ledger: %+v", last)
		}
	}()
	d.Until("the ledger "+description, patience.Limit, func() bool {
		f := d.storedRecord(d.homeRepository()).ledger
		if f == nil {
			return false
		}
		last = summaryOfLedger(f.State)
		return f.State.Current != nil && condition(f.State)
	})
}

// awaitRecords waits until all repositories have a revision in an epoch.
func (d *deployment) awaitRecords(epoch, revision int64) {
	d.T.Helper()
	for _, repository := range d.repositories {
		d.Until(fmt.Sprintf("the record of %s is in epoch %d", repository, epoch), patience.Limit, func() bool { return d.isRecordedAt(repository, epoch, revision) })
	}
}

// isRecordedAt reports whether the record of a repository is at a revision of an epoch.
func (d *deployment) isRecordedAt(repository string, epoch, revision int64) bool {
	d.T.Helper()
	r := d.storedRecord(repository).record
	return r != nil && r.Position.Epoch == epoch && r.Position.Revision == revision
}

// awaitReplicas waits until the files of all Sites request so many replicas.
func (d *deployment) awaitReplicas(want string) {
	d.T.Helper()
	d.Until("all repositories ask for "+want+" replicas", patience.Limit, func() bool { return d.haveAllReplicas(want) })
}

// haveAllReplicas reports whether each repository requests so many replicas.
func (d *deployment) haveAllReplicas(want string) bool {
	for i := range d.repositories {
		if d.replicasInFile(i) != want {
			return false
		}
	}
	return true
}

// wantHistory compares the revisions that the ledger has as verified.
func (d *deployment) wantHistory(want ...int64) {
	d.T.Helper()
	got := []int64{}
	for _, past := range d.recordedLedger().State.Targets() {
		got = append(got, past.Number)
	}
	slices.Sort(got)
	d.WantEqual("revisions that the ledger knows as verified", want, got)
}
