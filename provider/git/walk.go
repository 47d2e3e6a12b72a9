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

// FilesNamed returns the ids of all files of the branch that have a name and one of
// some ids, by the path of the directory that they lie in. Those whose path is
// refused are left out, and the root. It returns an *Error: of class TooLarge
// where the branch has more directories, or more such files, than are looked at.
func (s *Snapshot) FilesNamed(ctx context.Context, name string, ids ...string) (map[string]string, error) {
	w := newTreeWalk(s.branch, maxBranchSteps, func(e TreeEntry) bool { return e.Name == name && slices.Contains(ids, e.ID.String()) })
	if err := w.enterDirectory(ctx, s.branch.Tree, ""); err != nil {
		return nil, err
	}
	delete(w.found, "")
	return w.found, nil
}

// FilesNamedBelow returns the same for all files of a name in a directory of the
// branch and below it, none if there is no directory.
func (s *Snapshot) FilesNamedBelow(ctx context.Context, dir, name string) (map[string]string, error) {
	e, ok, err := s.branch.Find(dir)
	if err != nil || !ok || !e.IsDir() {
		return nil, err
	}
	w := newTreeWalk(s.branch, maxDirectorySteps, func(e TreeEntry) bool { return e.Name == name })
	if err := w.enterDirectory(ctx, e.ID, dir); err != nil {
		return nil, err
	}
	return w.found, nil
}

// A treeWalk looks for files. It enters a directory wherever that lies, and reads each tree once.
type treeWalk struct {
	view   View
	wanted func(TreeEntry) bool
	// found are ids of files, by the path of the directory that they lie in.
	found map[string]string
	// relevant entries of the trees that were read: directories, and files that are wanted.
	relevant map[plumbing.Hash][]TreeEntry
	// left are the entries that may still be looked at, of most.
	left, most int
}

func newTreeWalk(v View, most int, wanted func(TreeEntry) bool) *treeWalk {
	return &treeWalk{view: v, wanted: wanted, found: map[string]string{}, relevant: map[plumbing.Hash][]TreeEntry{}, left: most, most: most}
}

func (w *treeWalk) enterDirectory(ctx context.Context, tree plumbing.Hash, dir string) error {
	entries, err := w.readTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.countStep(ctx); err != nil {
			return err
		}
		if err := w.visitEntry(ctx, e, dir); err != nil {
			return err
		}
	}
	return nil
}

// visitEntry an entry of a directory. A path may not be longer than some bytes, so there is an end to the way down.
func (w *treeWalk) visitEntry(ctx context.Context, e TreeEntry, dir string) error {
	if !e.IsDir() {
		w.found[dir] = e.ID.String()
		return nil
	}
	path := strings.TrimPrefix(dir+"/"+e.Name, "/")
	if CheckPath(path) != nil {
		return nil //nolint:nilerr // No claim's directory has such a path.
	}
	return w.enterDirectory(ctx, e.ID, path)
}

// countStep returns an error if the walk exceeds its bound, or its context ended.
func (w *treeWalk) countStep(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &Error{Class: ClassTransient, Detail: "cannot look through directories: the operation was ended", context: err}
	}
	if w.left--; w.left < 0 || len(w.found) > maxFound {
		return Newf(ClassTooLarge, "cannot look through directories: there are more than %d, or more than %d files of ours", w.most, maxFound)
	}
	return nil
}

// readTree a tree, unless it was read before.
func (w *treeWalk) readTree(tree plumbing.Hash) ([]TreeEntry, error) {
	if known, ok := w.relevant[tree]; ok {
		return known, nil
	}
	all, err := w.view.Entries(tree)
	if err != nil {
		return nil, err
	}
	out := []TreeEntry{}
	for _, e := range all {
		if e.IsDir() || e.Mode == ModeFile && w.wanted(e) {
			out = append(out, e)
		}
	}
	w.relevant[tree] = out
	return out, nil
}
