package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/state"
)

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
		l.recorded.LastNumber = max(l.recorded.LastNumber, l.record.HighestNumber())
	}
	if l.record != nil && l.record.Head.Seq > 0 {
		f.memory = l.record
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
	if l.newer != "" || f.unreadable != "" {
		return nil
	}
	return e.rebuildFromCommits(ctx, f, s)
}

// ledgerStateOf returns a state, or one without a ledger for nil.
func ledgerStateOf(s *ledger.State) ledger.State { return ptr.Deref(s, ledger.State{}) }
