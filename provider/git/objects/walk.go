package objects

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// maxFound is how many files a walk finds.
const maxFound = 10_000

// FindFiles returns the ids of the files that are wanted below a tree, by the path of the directory that they lie in. The tree lies in a
// directory, which is empty for the root. Those whose path is refused are left out. It returns an Error: of class TooLarge if there are
// more than most entries to look at, or more than 10,000 such files. A few bytes of a repository can stand for millions of directories,
// because one tree may be part of other trees many times.
func (v View) FindFiles(ctx context.Context, tree plumbing.Hash, dir string, most int, wanted func(TreeEntry) bool) (map[string]string, error) {
	w := newTreeWalk(v, most, wanted)
	if err := w.enterDirectory(ctx, tree, dir); err != nil {
		return nil, err
	}
	return w.found, nil
}

// A MarkedDirectory is a directory that has a file of some name.
type MarkedDirectory struct {
	// File is the id of the file, and Tree that of the directory without the file.
	File, Tree string
}

// FindDirectories returns the directories below a tree that have a file of a name, by their paths. Its arguments, and the errors that it returns, are
// those of FindFiles.
func (v View) FindDirectories(ctx context.Context, tree plumbing.Hash, dir string, most int, name string) (map[string]MarkedDirectory, error) {
	w := newTreeWalk(v, most, func(e TreeEntry) bool { return e.Name == name })
	if err := w.enterDirectory(ctx, tree, dir); err != nil {
		return nil, err
	}
	out := make(map[string]MarkedDirectory, len(w.found))
	for path, file := range w.found {
		rest, err := v.treeWithout(w.trees[path], name)
		if err != nil {
			return nil, err
		}
		out[path] = MarkedDirectory{File: file, Tree: rest}
	}
	return out, nil
}

// treeWithout returns the id that a tree has without one of its entries.
func (v View) treeWithout(tree plumbing.Hash, name string) (string, error) {
	entries, err := v.Entries(tree)
	if err != nil {
		return "", err
	}
	kept := slices.DeleteFunc(slices.Clone(entries), func(e TreeEntry) bool { return e.Name == name })
	return NewObject(plumbing.TreeObject, EncodeTree(kept)).ID.String(), nil
}

// A treeWalk looks for files. It enters a directory wherever that lies, and reads each tree once.
type treeWalk struct {
	view   View
	wanted func(TreeEntry) bool
	// found are ids of files, by the path of the directory that they lie in, and trees are the ids of those directories.
	found map[string]string
	trees map[string]plumbing.Hash
	// relevant entries of the trees that were read: directories, and files that are wanted.
	relevant map[plumbing.Hash][]TreeEntry
	// left are the entries that may still be looked at, of most.
	left, most int
}

func newTreeWalk(v View, most int, wanted func(TreeEntry) bool) *treeWalk {
	return &treeWalk{view: v, wanted: wanted, found: map[string]string{}, trees: map[string]plumbing.Hash{}, relevant: map[plumbing.Hash][]TreeEntry{}, left: most, most: most}
}

func (w *treeWalk) enterDirectory(ctx context.Context, tree plumbing.Hash, dir string) error {
	entries, err := w.readRelevantEntries(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.countVisitedEntry(ctx); err != nil {
			return err
		}
		w.trees[dir] = tree
		if err := w.recordOrEnter(ctx, e, dir); err != nil {
			return err
		}
	}
	return nil
}

// recordOrEnter records a file, or enters a directory. A path has a limit of bytes, so the recursion ends.
func (w *treeWalk) recordOrEnter(ctx context.Context, e TreeEntry, dir string) error {
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

// countVisitedEntry returns an error if the walk exceeds its bound, or its context ended.
func (w *treeWalk) countVisitedEntry(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return failure.Newf(failure.ClassTransient, "cannot look through directories: the operation was ended").EndedBy(err)
	}
	if w.left--; w.left < 0 || len(w.found) > maxFound {
		return failure.Newf(failure.ClassTooLarge, "cannot look through directories: there are more than %d, or more than %d files of ours", w.most, maxFound)
	}
	return nil
}

// readRelevantEntries returns the relevant entries of a tree, which is read once.
func (w *treeWalk) readRelevantEntries(tree plumbing.Hash) ([]TreeEntry, error) {
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
