package git

import (
	"context"
	"path"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// Bounds of a tree that is read. No delivery of ours has more.
const (
	maxTreeFiles = 2000
	maxTreeBytes = 8 << 20
)

// A WantedTree is a tree of files, and where it may be.
type WantedTree struct {
	// ID of the tree without the entry that Without names.
	ID string
	// Kept is the directory of the state that may hold on to it.
	RetainedDir string
	// Path of the directory that has it, or had it once, with one entry more.
	Path    string
	Without string
	// Folder of the directory that is the tree. Empty means that the directory is.
	Folder string
	// Commits at which it may have had it.
	Commits []string
	// Derive returns the tree if it follows from the files of a directory which stood at the path, and was never there itself. Nil means that it
	// does not.
	Derive func(files map[string][]byte) (map[string][]byte, bool)
}

// ReadTree returns the files of a tree, and whether it was found: in the state,
// in the branch, or in older commits that the server still has. It returns an
// *Error if the server cannot be asked, or something else than files is in it.
func (c *Client) ReadTree(ctx context.Context, s *Snapshot, w WantedTree) (map[string][]byte, bool, error) {
	if files := s.keeping[w.RetainedDir][w.ID]; files != nil {
		return files, true, nil
	}
	if e, ok, err := s.state.Find(ctx, w.RetainedDir+"/"+w.ID); err == nil && ok && e.IsDir() && e.ID.String() == w.ID {
		files, err := c.readFilesOfTree(ctx, s.state.View, e.ID, "")
		return files, err == nil, err
	}
	if files, ok, err := c.readTreeAtCommit(ctx, s.branch, w); ok || err != nil {
		return files, ok, err
	}
	for _, commit := range w.Commits {
		past, err := c.fetchCommitFor(ctx, s.branch.Meter(), commit)
		if failure.ClassOf(err) == failure.ClassNotFound || failure.ClassOf(err) == failure.ClassInvalid {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if files, ok, err := c.readTreeAtCommit(ctx, past.view, w); ok || err != nil {
			return files, ok, err
		}
	}
	return nil, false, nil
}

// readTreeAtCommit reads the tree if a commit has it at its path, or if Derive computes it from the directory at the path.
func (c *Client) readTreeAtCommit(ctx context.Context, v objects.View, w WantedTree) (map[string][]byte, bool, error) {
	dir, excluded := w.Path, w.Without
	if w.Folder != "" {
		dir, excluded = path.Join(w.Path, w.Folder), ""
	}
	id, err := (&Commit{view: v}).Subtree(ctx, dir, excluded)
	if err != nil {
		return nil, false, err
	}
	if id == w.ID {
		return c.readDirectoryAt(ctx, v, dir, excluded)
	}
	if w.Derive == nil {
		return nil, false, nil
	}
	files, ok, err := c.readDirectoryAt(ctx, v, w.Path, w.Without)
	if err != nil || !ok {
		return nil, false, err
	}
	files, ok = w.Derive(files)
	return files, ok, nil
}

// readDirectoryAt reads the files of a commit in a directory, and whether the directory exists.
func (c *Client) readDirectoryAt(ctx context.Context, v objects.View, dir, excluded string) (map[string][]byte, bool, error) {
	e, ok, err := v.Find(ctx, dir)
	if err != nil || !ok || !e.IsDir() {
		return nil, false, err
	}
	files, err := c.readFilesOfTree(ctx, v, e.ID, excluded)
	return files, err == nil, err
}

// readFilesOfTree returns the files of a tree that a view knows, and fetches the missing files.
func (c *Client) readFilesOfTree(ctx context.Context, v objects.View, tree plumbing.Hash, excluded string) (map[string][]byte, error) {
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	missing, err := v.MissingFiles(ctx, tree, true, maxTreeFiles+1) // The entry that is left out may be one of them.
	if err == nil && len(missing) > 0 {
		var fetched map[plumbing.Hash]objects.Object
		fetched, err = c.fetchObjects(ctx, v.Meter(), v.Commit, missing)
		v = v.AddObjects(fetched)
	}
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	return newTreeReader(v, v.NewAnswer()).readTreeFiles(ctx, tree, excluded)
}

// fetchObjects fetches objects by their ids, or the commit that they hang on from
// a server that gives no object by its id.
func (c *Client) fetchObjects(ctx context.Context, m *objects.Meter, commit plumbing.Hash, ids []plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	f, err := c.openFetchSession(ctx, m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fetched, err := f.FetchObjects(ctx, ids); err == nil || ctx.Err() != nil {
		return fetched, err
	}
	return f.FetchObject(ctx, commit)
}

// A treeReader collects the files of a tree.
type treeReader struct {
	view  objects.View
	files map[string][]byte
	left  int
	// held is the answer that the files are part of.
	held *objects.Answer
}

func newTreeReader(v objects.View, answer *objects.Answer) *treeReader {
	return &treeReader{view: v, files: map[string][]byte{}, left: maxTreeBytes, held: answer}
}

// readTreeFiles returns the files of a tree, without one entry of it.
func (r *treeReader) readTreeFiles(ctx context.Context, tree plumbing.Hash, excluded string) (map[string][]byte, error) {
	return r.files, r.readDirectory(ctx, tree, "", excluded)
}

func (r *treeReader) readDirectory(ctx context.Context, tree plumbing.Hash, prefix, excluded string) error {
	for e, err := range r.view.Entries(ctx, tree) {
		if err != nil {
			return err
		}
		if prefix == "" && e.Name == excluded {
			continue
		}
		if err := r.readTreeEntry(ctx, e, prefix+e.Name); err != nil {
			return err
		}
	}
	return nil
}

func (r *treeReader) readTreeEntry(ctx context.Context, e objects.TreeEntry, path string) error {
	if err := objects.CheckPath(path); err != nil {
		return &failure.Error{Class: failure.ClassInvalid, Detail: err.Error()}
	}
	if err := r.held.Hold(ctx, path); err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return r.readDirectory(ctx, e.ID, path+"/", "")
	case e.Mode != objects.ModeFile:
		return failure.Newf(failure.ClassInvalid, "cannot read tree: %q is not a plain file", failure.Shorten(path))
	}
	data, err := r.view.Read(ctx, plumbing.BlobObject, e.ID)
	if err != nil {
		return err
	}
	r.left -= len(data)
	if len(r.files) == maxTreeFiles || r.left < 0 {
		return tooManyFilesError()
	}
	r.files[path] = data
	return nil
}

func tooManyFilesError() error {
	return failure.Newf(failure.ClassTooLarge, "cannot read tree: it has more than %d files, or %d bytes", maxTreeFiles, maxTreeBytes)
}
