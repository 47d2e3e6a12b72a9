package git

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/signature"
)

// A Snapshot is the observed state of a remote. It never changes, and is
// safe for concurrent use.
type Snapshot struct {
	target string
	empty  bool
	branch objects.View
	state  stateView
	// seen is the tip of the branch at the remote, on which a draft may have more.
	seen plumbing.Hash
	// history is the known part of the branch's history.
	history *objects.History
	// signer of the next commits. Nil leaves them unsigned.
	signer *signature.Signer
	// watched are the refs whose tips the client was asked to read.
	watched map[string]plumbing.Hash
	// rival is the ref of a state that does not count.
	rival string
	// pending are files of the state that a draft will commit. Nil removes one.
	pending map[string][]byte
	// keeping are the trees that it will hold on to.
	keeping map[string]objects.Trees
}

// A stateView is the view of a state, and whether it counts.
type stateView struct {
	objects.View

	// forged is the reason why the state does not count. Empty for a state that counts.
	forged string
	// retired is true for a state that names another ref whose state counts.
	retired bool
}

// applyStateEdits returns the state after a commit that makes the edits, and the objects that it adds. The new state counts: it is neither forged nor retired.
func (v stateView) applyStateEdits(ctx context.Context, root *objects.Node, info objects.CommitInfo) (stateView, []objects.Object, error) {
	next, created, err := v.Apply(ctx, root, info)
	if err != nil || next.Commit == v.Commit {
		return v, created, err
	}
	return stateView{View: next}, created, nil
}

// Open returns the snapshot with a new meter, for another reader: readers that share a snapshot do not share its limits. It returns nil for nil.
func (s *Snapshot) Open() *Snapshot { return s.withMeter(objects.NewMeter()) }

// Closed returns the snapshot for a memory that readers share: it refuses to be read until it is opened. It returns nil for nil.
func (s *Snapshot) Closed() *Snapshot { return s.withMeter(nil) }

func (s *Snapshot) withMeter(m *objects.Meter) *Snapshot {
	if s == nil {
		return nil
	}
	next := *s
	next.branch, next.state.View = s.branch.Open(m), s.state.Open(m)
	return &next
}

// HasRequestsLeft reports whether the reader may send the server another request. A caller that can go on with the next snapshot stops before the error.
func (s *Snapshot) HasRequestsLeft() bool { return s.branch.Meter().HasRequestsLeft() }

// Tip returns the commit of the branch, or nothing if the branch does not exist.
func (s *Snapshot) Tip() string { return hexUnlessZero(s.branch.Commit) }

// StateTip returns the commit of the state ref, or nothing if the ref does not exist.
func (s *Snapshot) StateTip() string { return hexUnlessZero(s.state.Commit) }

// Empty reports whether the repository has no branch at all. Such a repository
// is new, and its first branch may be made; where other branches exist, a
// missing one is a mistake in the configuration.
func (s *Snapshot) Empty() bool { return s.empty }

// Size returns the approximate memory of the snapshot in bytes.
func (s *Snapshot) Size() int { return s.branch.Size() + s.state.Size() + s.history.Size() }

// Contains reports whether a commit is in the branch, and whether that is known
// without asking the server.
func (s *Snapshot) Contains(commit string) (isContained, isKnown bool) {
	if !plumbing.IsHash(commit) || s.seen.IsZero() {
		return false, true
	}
	id := plumbing.NewHash(commit)
	if id == s.branch.Commit {
		return true, true
	}
	return s.history.Has(id)
}

// Subtree returns the tree id of a directory of the branch, or nothing if the
// directory does not exist. It returns an error if the path is refused.
func (s *Snapshot) Subtree(ctx context.Context, path string) (string, error) {
	e, ok, err := s.branch.Find(ctx, path)
	if err != nil || !ok || !e.IsDir() {
		return "", err
	}
	return e.ID.String(), nil
}

// Entry returns the entry at a path of the branch. It returns an error if
// the path is refused.
func (s *Snapshot) Entry(ctx context.Context, path string) (objects.Entry, bool, error) {
	e, ok, err := s.branch.Find(ctx, path)
	return objects.Entry{Mode: e.Mode, ID: e.ID.String()}, ok, err
}

// Entries returns the entries of a directory of the branch, by name; nothing
// if the directory does not exist. It returns an error if the path is refused.
func (s *Snapshot) Entries(ctx context.Context, path string) (map[string]objects.Entry, error) {
	return s.branch.List(ctx, path)
}

// StateEntries returns the entries of a directory of the state, by name. The
// empty path is its root. It returns an error if the path is refused.
func (s *Snapshot) StateEntries(ctx context.Context, path string) (map[string]objects.Entry, error) {
	return s.state.List(ctx, path)
}

// StateFile returns a file of the state, and whether it exists. It returns an error
// if the path is refused, and an error of class Occupied if the entry at the path
// is not a regular file: a state whose owner is hidden must not count as a state
// without an owner.
func (s *Snapshot) StateFile(ctx context.Context, path string) ([]byte, bool, error) {
	if data, ok := s.pending[path]; ok {
		return data, data != nil, nil
	}
	e, ok, err := s.state.Find(ctx, path)
	if err != nil || !ok {
		return nil, false, err
	}
	if !e.IsFile() {
		return nil, false, failure.Newf(failure.ClassOccupied, "cannot read file %q of the state: a directory, a link or a submodule is there", failure.Shorten(path))
	}
	data, err := s.state.Read(ctx, plumbing.BlobObject, e.ID)
	return data, err == nil, err
}

func hexUnlessZero(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

// withoutGarbage drops objects of past deliveries: replaced trees, and files of the
// branch, which the server has by now.
func (s *Snapshot) withoutGarbage(ctx context.Context) *Snapshot {
	branch, err := s.branch.Tidy(ctx, false)
	if err != nil {
		return s // It is as good as it was.
	}
	state, err := s.state.Tidy(ctx, true)
	if err != nil {
		return s
	}
	next := *s
	next.branch, next.state.View = branch, state
	return &next
}

// TreeWithout returns the id that a directory of the branch has without one of its
// entries, whether that exists or not; nothing if the directory does not exist.
// It returns an error if the path is refused.
func (s *Snapshot) TreeWithout(ctx context.Context, path, entry string) (string, error) {
	return (&Commit{view: s.branch}).Subtree(ctx, path, entry)
}

// RetainedTrees returns the ids of the trees that a directory of the state holds on to. It returns an error if the path is refused.
func (s *Snapshot) RetainedTrees(ctx context.Context, dir string) (map[string]bool, error) {
	out := map[string]bool{}
	if trees, ok := s.keeping[dir]; ok {
		for id := range trees {
			out[id] = true
		}
		return out, nil
	}
	entries, err := s.state.List(ctx, dir)
	for name, e := range entries {
		if e.Mode == objects.ModeTree && e.ID == name {
			out[name] = true
		}
	}
	return out, err
}
