package prunerequest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/prune"
	"github.com/intentplane/intentplane/provider/state"
)

// A record is the state of a claim in the repository.
type record struct {
	state.RecordFile

	// ledger of the claim, if the repository holds it.
	ledger *state.LedgerFile
}

// explainState says why the state cannot be believed. Empty means that it can.
func (g *gatherer) explainState(ctx context.Context, s *git.Snapshot) string {
	if reason := s.StateForged(); reason != "" {
		return "the state of the repository does not count: " + reason
	}
	content, ok, err := s.StateFile(ctx, state.OwnerPath)
	if err == nil && !ok {
		return ""
	}
	uid := ""
	if err == nil {
		uid, err = state.DecodeOwner(content)
	}
	switch {
	case err != nil:
		return state.OwnerPath + ": " + err.Error()
	case uid == g.opened.ClusterUID || uid == g.opened.Config.TakeOverFrom && uid != "":
		return ""
	}
	return fmt.Sprintf("control plane %q wrote the state of the repository from the cluster with UID %q: if that is lost, name it in spec.takeOverFrom of the configuration",
		g.opened.Config.ControlPlane, uid)
}

// readRecords returns the records of all claims. Unreadable records are left out, so that nothing of their claims is removed.
func (g *gatherer) readRecords(ctx context.Context, s *git.Snapshot) ([]record, error) {
	found, err := s.StateFilesNamed(ctx, path.Base(state.RecordPath(claimReference{})))
	if err != nil {
		return nil, err
	}
	ledgers, err := s.StateFilesNamed(ctx, path.Base(state.LedgerPath(claimReference{})))
	if err != nil {
		return nil, err
	}
	out := []record{}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if r, ok := decodeRecordFiles(dir, found[dir], ledgers[dir]); ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// decodeRecordFiles reads the record in a directory of the state, and the ledger beside it if there is one. It is false if one of them cannot be read.
func decodeRecordFiles(dir string, content, ledger []byte) (record, bool) {
	file, err := state.DecodeRecord(content)
	if err != nil || path.Dir(state.RecordPath(file.Claim)) != dir {
		return record{}, false
	}
	r := record{RecordFile: file}
	if ledger == nil {
		return r, true
	}
	l, err := state.DecodeLedger(ledger)
	r.ledger = &l
	return r, err == nil
}

// recordedEntries returns the directories of records on a branch.
func recordedEntries(records []record, branch string) []prune.Entry {
	out := []prune.Entry{}
	for _, r := range records {
		for _, t := range r.Trees {
			if t.Branch != branch || r.Deleted {
				continue
			}
			e := prune.Entry{Path: t.Path, Namespace: r.Claim.Namespace, Name: r.Claim.Name, Tree: t.Tree, Commit: r.Commit}
			if r.CommitTime != nil {
				e.At = r.CommitTime.Time
			}
			out = append(out, e)
		}
	}
	return out
}

// sitesByPath returns the Sites that directories on a branch were delivered to, by their paths.
func sitesByPath(records []record, branch string) map[string]string {
	out := map[string]string{}
	for _, r := range records {
		for _, t := range r.Trees {
			if t.Branch == branch {
				out[t.Path] = t.Site
			}
		}
	}
	return out
}
