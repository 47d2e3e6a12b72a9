package git

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds of a walk, in entries of directories that are looked at, and in files that are found. A few bytes of a repository can stand for
// millions of directories, because one tree may be part of other trees many times.
const (
	maxBranchSteps    = 500_000
	maxDirectorySteps = 20_000
	maxFound          = 10_000
)

// Named returns the ids of all files of the branch that have a name and one of
// some ids, by the path of the directory that they lie in. Those whose path is
// refused are left out, and the root. It returns an *Error: of class TooLarge
// where the branch has more directories, or more such files, than are looked at.
func (s *Snapshot) Named(ctx context.Context, name string, ids ...string) (map[string]string, error) {
	w := newWalk(s.branch, maxBranchSteps, func(e entry) bool { return e.name == name && slices.Contains(ids, e.id.String()) })
	if err := w.enter(ctx, s.branch.tree, ""); err != nil {
		return nil, err
	}
	delete(w.found, "")
	return w.found, nil
}

// NamedBelow returns the same for all files of a name in a directory of the
// branch and below it, none if there is no directory.
func (s *Snapshot) NamedBelow(ctx context.Context, dir, name string) (map[string]string, error) {
	e, ok, err := s.branch.find(dir)
	if err != nil || !ok || !e.isDir() {
		return nil, err
	}
	w := newWalk(s.branch, maxDirectorySteps, func(e entry) bool { return e.name == name })
	if err := w.enter(ctx, e.id, dir); err != nil {
		return nil, err
	}
	return w.found, nil
}

// A walk looks for files. It enters a directory wherever that lies, and reads each tree once.
type walk struct {
	view   view
	wanted func(entry) bool
	// found are ids of files, by the path of the directory that they lie in.
	found map[string]string
	// relevant entries of the trees that were read: directories, and files that are wanted.
	relevant map[plumbing.Hash][]entry
	// left are the entries that may still be looked at, of most.
	left, most int
}

func newWalk(v view, most int, wanted func(entry) bool) *walk {
	return &walk{view: v, wanted: wanted, found: map[string]string{}, relevant: map[plumbing.Hash][]entry{}, left: most, most: most}
}

func (w *walk) enter(ctx context.Context, tree plumbing.Hash, dir string) error {
	entries, err := w.read(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.step(ctx); err != nil {
			return err
		}
		if err := w.visit(ctx, e, dir); err != nil {
			return err
		}
	}
	return nil
}

// visit an entry of a directory. A path may not be longer than some bytes, so there is an end to the way down.
func (w *walk) visit(ctx context.Context, e entry, dir string) error {
	if !e.isDir() {
		w.found[dir] = e.id.String()
		return nil
	}
	path := strings.TrimPrefix(dir+"/"+e.name, "/")
	if CheckPath(path) != nil {
		return nil //nolint:nilerr // No claim's directory has such a path.
	}
	return w.enter(ctx, e.id, path)
}

// step returns an error if the walk exceeds its bound, or its context ended.
func (w *walk) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &Error{Class: ClassTransient, Detail: "cannot look through directories: the operation was ended", context: err}
	}
	if w.left--; w.left < 0 || len(w.found) > maxFound {
		return failf(ClassTooLarge, "cannot look through directories: there are more than %d, or more than %d files of ours", w.most, maxFound)
	}
	return nil
}

// read a tree, unless it was read before.
func (w *walk) read(tree plumbing.Hash) ([]entry, error) {
	if known, ok := w.relevant[tree]; ok {
		return known, nil
	}
	all, err := w.view.entries(tree)
	if err != nil {
		return nil, err
	}
	out := []entry{}
	for _, e := range all {
		if e.isDir() || e.mode == modeFile && w.wanted(e) {
			out = append(out, e)
		}
	}
	w.relevant[tree] = out
	return out, nil
}
