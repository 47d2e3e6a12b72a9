package objects

import (
	"context"
	"iter"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// A FoundFile is a file that a walk found.
type FoundFile struct {
	// Dir is the path of the directory that the file lies in. Empty is the root.
	Dir string
	// ID of the file.
	ID plumbing.Hash
	// Tree is the id of the directory.
	Tree plumbing.Hash
}

// FilesNamed goes through the plain files of a name in a directory and below it, and of some ids if there are any; it yields no files if the directory does not
// exist. The empty path is the root. Files with a refused path are left out. The walk ends with an error of class TooCostly once the meter is spent, and of
// class TooLarge once the paths that it found do not fit into an answer.
func (v View) FilesNamed(ctx context.Context, dir, name string, ids ...plumbing.Hash) iter.Seq2[FoundFile, error] {
	return func(yield func(FoundFile, error) bool) {
		tree, ok, err := v.directoryAt(ctx, dir)
		if err != nil {
			yield(FoundFile{}, err)
			return
		}
		if ok {
			w := &fileWalk{view: v, name: name, ids: ids, path: []byte(dir), yield: yield}
			w.enterDirectory(ctx, tree)
		}
	}
}

// A fileWalk looks for files. It enters a directory wherever that lies.
type fileWalk struct {
	view View
	name string
	ids  []plumbing.Hash
	// path of the directory that the walk is in.
	path  []byte
	found Answer
	yield func(FoundFile, error) bool
}

// enterDirectory goes through a directory and its subdirectories. It returns false once the walk has ended. A path has a limit of bytes, so the recursion ends.
func (w *fileWalk) enterDirectory(ctx context.Context, tree plumbing.Hash) bool {
	for l, err := range w.view.eachTreeLine(ctx, tree) {
		goesOn := true
		switch {
		case err != nil:
			w.yield(FoundFile{}, err)
			return false
		case l.isDirectory():
			goesOn = w.enterNamedChild(ctx, l)
		case w.isWantedFile(l):
			goesOn = w.yieldFile(l, tree)
		}
		if !goesOn {
			return false
		}
	}
	return true
}

// enterNamedChild enters a directory, unless its path is refused: no claim's directory has such a path.
func (w *fileWalk) enterNamedChild(ctx context.Context, l line) bool {
	if err := w.view.meter.spendMeterUnits(ctx, pathByte, len(l.name)); err != nil {
		w.yield(FoundFile{}, err)
		return false
	}
	length := len(w.path)
	if length > 0 {
		w.path = append(w.path, '/')
	}
	w.path = append(w.path, l.name...)
	goesOn := true
	if len(w.path) <= maxPathBytes && isPathSegment(string(l.name)) {
		goesOn = w.enterDirectory(ctx, l.id)
	}
	w.path = w.path[:length]
	return goesOn
}

func (w *fileWalk) isWantedFile(l line) bool {
	return string(l.name) == w.name && string(l.mode) == ModeFile && (len(w.ids) == 0 || slices.Contains(w.ids, l.id))
}

func (w *fileWalk) yieldFile(l line, tree plumbing.Hash) bool {
	if err := w.found.countHeldBytes(len(w.path) + pathOverhead); err != nil {
		w.yield(FoundFile{}, err)
		return false
	}
	return w.yield(FoundFile{Dir: string(w.path), ID: l.id, Tree: tree}, nil)
}
