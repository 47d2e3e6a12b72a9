package gitdelivery

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/state"
)

// gatherLedger gathers the facts about a delivery with a ledger. What keeps the directories from being compared for good is a fact too: the ledger
// is recorded all the same. It returns an error if a server or the API server cannot be asked.
func (e *external) gatherLedger(ctx context.Context, d *v1alpha1.GitDelivery, s *git.Snapshot) (facts, error) {
	f := facts{
		namespace: d.GetNamespace(), spec: *d.Spec.ForProvider.DeepCopy(), lastStatus: *d.Status.AtProvider.DeepCopy(),
		configKind: e.config.kind, config: e.config.spec, marker: e.markerOf(d), tip: s.Tip(),
		forged: s.StateForged(), rival: s.StateRival(), forgotten: forgottenBranches(d),
	}
	f.ledger = &ledgerFacts{shown: f.lastStatus.Ledger, now: e.now(), identity: fmt.Sprintf("%s %s", d.GetUID(), e.timestamp().Format("20060102T150405Z"))}
	var err error
	if f.content, err = f.marker.Encode(); err != nil {
		return facts{}, err
	}
	if err = e.readLedger(ctx, &f, s); err != nil {
		return facts{}, err
	}
	if err = e.gatherDirectories(ctx, d, &f, s); err != nil && isPersistent(err) {
		f.ledger.obstacle, err = err, nil
	}
	return f, err
}

// isPersistent reports whether an error is about what the repository holds, so that it stays until a user changes that.
func isPersistent(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassInvalid, failure.ClassTooLarge, failure.ClassOccupied, failure.ClassPolicy:
		return true
	}
	return false
}

// readLedger reads what the state says of the ledger. Where that was lost, the commits of the branch say which numbers were used.
func (e *external) readLedger(ctx context.Context, f *facts, s *git.Snapshot) error {
	l, claim := f.ledger, f.spec.ClaimRef
	var err error
	if l.file, err = readLedgerFile(s, state.LedgerPath(claim), state.DecodeLedger, f); err != nil {
		return err
	}
	if l.record, err = readLedgerFile(s, state.RecordPath(claim), state.DecodeRecord, f); err != nil {
		return err
	}
	if f.unreadable == "" {
		if f.owner, f.unreadable, err = readStateOwner(s); err != nil {
			return err
		}
	}
	f.retained = s.RetainedTrees(state.TreesPath(claim))
	if l.file != nil {
		l.recorded = l.file.State
	}
	if l.record != nil {
		l.recorded.LastNumber = max(l.recorded.LastNumber, l.record.LastNumber, l.record.Position.Revision, ledgerStateOf(l.record.Copy).LastNumber)
	}
	if l.record != nil && l.record.Head.Seq > 0 {
		entry := l.record.Entry(l.appliedOrder(f.isHome()))
		f.entry = &entry
		return nil
	}
	return e.recoverRecord(ctx, f, s)
}

// readLedgerFile returns a file of the state, or nil if there is none. What is wrong with it is noted in the facts.
func readLedgerFile[T any](s *git.Snapshot, path string, decode func([]byte) (T, error), f *facts) (*T, error) {
	content, ok, err := s.StateFile(path)
	if err != nil || !ok {
		return nil, err
	}
	file, err := decode(content)
	var newer *state.NewerError
	switch {
	case errors.As(err, &newer):
		f.ledger.newer = path + ": " + err.Error()
		return nil, nil //nolint:nilnil // What is wrong with the file is noted.
	case err != nil:
		f.unreadable = path + ": " + err.Error()
		return nil, nil //nolint:nilnil,nilerr // What is wrong with the file is noted.
	}
	return &file, nil
}

// recoverRecord rebuilds what is remembered of the directories from commits, and the highest number that they speak of. Where all of the state
// was lost, the numbers of all other claims are recovered too: a claim that was deleted would begin at 1 again otherwise.
func (e *external) recoverRecord(ctx context.Context, f *facts, s *git.Snapshot) error {
	l := f.ledger
	if l.newer != "" || f.unreadable != "" || l.recorded.Seq > 0 {
		return nil
	}
	rebuilt := *f
	if err := e.rebuildFromCommits(ctx, &rebuilt, s); err != nil {
		return err
	}
	f.owner = rebuilt.owner
	l.recorded.LastNumber = max(l.recorded.LastNumber, lastNumberOf(rebuilt.entry))
	if rebuilt.entry != nil && !rebuilt.entry.Deleted {
		f.entry, f.rebuilt = rebuilt.entry, true
	}
	f.lostEntries = rebuilt.lostEntries
	return nil
}

// lastNumberOf returns the number of the revision that commits speak of last. It returns 0 if they speak of none.
func lastNumberOf(e *state.Entry) int64 {
	if e == nil || e.Order == nil {
		return 0
	}
	return e.Order.Revision
}

// gatherDirectories gathers what stands in the branch, and what may be written there.
func (e *external) gatherDirectories(ctx context.Context, d *v1alpha1.GitDelivery, f *facts, s *git.Snapshot) error {
	var err error
	if f.sites, err = e.sitesByName(ctx, f.allSiteNames()); err != nil {
		return err
	}
	if f.inBranch, err = e.commitsInBranch(ctx, *f, s); err != nil {
		return err
	}
	if f.restored, err = e.restoredTrees(ctx, d, *f, s); err != nil {
		return err
	}
	f.dirs = map[string]directory{}
	for _, path := range f.allDirectories() {
		if f.dirs[path], err = e.directoryAt(ctx, *f, s, path); err != nil {
			return err
		}
	}
	f.overlaps, err = e.findOverlaps(ctx, *f, s)
	return err
}

// ledgerStateOf returns a state, or one without a ledger for nil.
func ledgerStateOf(s *ledger.State) ledger.State { return ptr.Deref(s, ledger.State{}) }
