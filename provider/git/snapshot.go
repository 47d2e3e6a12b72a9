package git

import (
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/signature"
)

// A Snapshot is what a remote held at one moment. It never changes, and is
// safe for concurrent use.
type Snapshot struct {
	target string
	empty  bool
	branch objects.View
	state  stateView
	// seen is the tip of the branch at the remote, on which a draft may have more.
	seen plumbing.Hash
	// history is what is known of the branch's past.
	history *objects.History
	// signer of what follows. Nil leaves it unsigned.
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

	// forged says why nothing of it counts. Empty if it does.
	forged string
	// retired is true for a state that names another ref whose state counts.
	retired bool
}

// applyEdits returns the state after a commit that makes the edits, and the objects that it adds. What is written counts.
func (v stateView) applyEdits(root *objects.Node, info objects.CommitInfo) (stateView, []objects.Object, error) {
	next, made, err := v.Apply(root, info)
	if err != nil || next.Commit == v.Commit {
		return v, made, err
	}
	return stateView{View: next}, made, nil
}

func (v stateView) withoutGarbage() stateView {
	v.View = v.Tidy(true)
	return v
}

// Tip returns the commit of the branch, or nothing if the branch does not exist.
func (s *Snapshot) Tip() string { return hexUnlessZero(s.branch.Commit) }

// StateTip returns the commit of the state ref, or nothing if there is none.
func (s *Snapshot) StateTip() string { return hexUnlessZero(s.state.Commit) }

// Empty reports whether the repository has no branch at all. Such a repository
// is new, and its first branch may be made; where other branches exist, a
// missing one is a mistake in the configuration.
func (s *Snapshot) Empty() bool { return s.empty }

// Size returns how many bytes the snapshot takes, by and large.
func (s *Snapshot) Size() int { return s.branch.Size() + s.state.Size() }

// Contains reports whether a commit is in the branch, and whether that is known
// without asking the server.
func (s *Snapshot) Contains(commit string) (is, known bool) {
	if !plumbing.IsHash(commit) || s.seen.IsZero() {
		return false, true
	}
	id := plumbing.NewHash(commit)
	if id == s.branch.Commit {
		return true, true
	}
	return s.history.Has(id)
}

// Subtree returns the tree id of a directory of the branch, or nothing if
// there is none. It returns an error if the path is refused.
func (s *Snapshot) Subtree(path string) (string, error) {
	e, ok, err := s.branch.Find(path)
	if err != nil || !ok || !e.IsDir() {
		return "", err
	}
	return e.ID.String(), nil
}

// Entry returns what stands at a path of the branch. It returns an error if
// the path is refused.
func (s *Snapshot) Entry(path string) (objects.Entry, bool, error) {
	e, ok, err := s.branch.Find(path)
	return objects.Entry{Mode: e.Mode, ID: e.ID.String()}, ok, err
}

// Entries returns what stands in a directory of the branch, by name; nothing
// if the directory does not exist. It returns an error if the path is refused.
func (s *Snapshot) Entries(path string) (map[string]objects.Entry, error) {
	return s.branch.List(path)
}

// StateEntries returns what stands in a directory of the state, by name. The
// empty path is its root. It returns an error if the path is refused.
func (s *Snapshot) StateEntries(path string) (map[string]objects.Entry, error) {
	return s.state.List(path)
}

// StateFile returns a file of the state, and whether there is one. It returns
// an error if the path is refused, and one of class Occupied if what stands there
// is not a regular file: a state whose owner is hidden is not one without an owner.
func (s *Snapshot) StateFile(path string) ([]byte, bool, error) {
	if data, ok := s.pending[path]; ok {
		return data, data != nil, nil
	}
	e, ok, err := s.state.Find(path)
	if err != nil || !ok {
		return nil, false, err
	}
	if !e.IsFile() {
		return nil, false, failure.Newf(failure.ClassOccupied, "cannot read file %q of the state: a directory, a link or a submodule is there", failure.Shorten(path))
	}
	data, err := s.state.Read(plumbing.BlobObject, e.ID)
	return data, err == nil, err
}

func hexUnlessZero(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

// withoutGarbage drops what deliveries left behind: trees that were replaced, and files of
// the branch, which the server has by now.
func (s *Snapshot) withoutGarbage() *Snapshot {
	if s.branch.IsTidy() && s.state.IsTidy() {
		return s
	}
	next := *s
	next.branch, next.state = s.branch.Tidy(false), s.state.withoutGarbage()
	return &next
}

// TreeWithout returns the id that a directory of the branch has without one of its
// entries, whether that exists or not; nothing if the directory does not exist.
// It returns an error if the path is refused.
func (s *Snapshot) TreeWithout(path, entry string) (string, error) {
	return (&Commit{view: s.branch}).Subtree(path, entry)
}

// RetainedTrees returns the ids of the trees that a directory of the state holds on to.
func (s *Snapshot) RetainedTrees(dir string) map[string]bool {
	out := map[string]bool{}
	if trees, ok := s.keeping[dir]; ok {
		for id := range trees {
			out[id] = true
		}
		return out
	}
	entries, err := s.state.List(dir)
	if err != nil {
		return out // No path that we write is refused.
	}
	for name, e := range entries {
		if e.Mode == objects.ModeTree && e.ID == name {
			out[name] = true
		}
	}
	return out
}
