package git

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// EachFile calls a function with the content of files of the branch, by their ids, as FilesNamed names them. It sends one request to the server. A file that
// the server does not send is left out. All contents count as memory of the namespace until EachFile returns, so the function must keep none that is large. It
// returns an *Error.
func (c *Client) EachFile(ctx context.Context, s *Snapshot, ids []string, visit func(id string, content []byte)) error {
	wanted := make([]plumbing.Hash, 0, len(ids))
	for _, id := range ids {
		wanted = append(wanted, plumbing.NewHash(id))
	}
	v, err := c.fetchMissing(ctx, s, wanted)
	if err != nil {
		return err
	}
	for _, id := range wanted {
		if o, isKnown := v.Object(id); isKnown && o.Kind == plumbing.BlobObject {
			visit(id.String(), o.Data)
		}
	}
	return nil
}

// EachDirectory calls a function with the files of directories of the branch, by the paths of the directories and by relative paths in them. It sends one
// request to the server. A directory that does not exist, that has something else than files, or that has too many, is left out. All files count as memory of
// the namespace until EachDirectory returns, so the function must keep none. It returns an *Error.
func (c *Client) EachDirectory(ctx context.Context, s *Snapshot, paths []string, visit func(path string, files map[string][]byte)) error {
	trees, missing := map[string]plumbing.Hash{}, []plumbing.Hash{}
	for _, path := range paths {
		tree, lacking, err := s.findReadable(ctx, path)
		if concernsReader(err) {
			return err
		}
		if err == nil && !tree.IsZero() {
			trees[path], missing = tree, append(missing, lacking...)
		}
	}
	v, err := c.fetchMissing(ctx, s, missing)
	if err != nil {
		return err
	}
	answer := v.NewAnswer()
	for path, tree := range trees {
		files, err := newTreeReader(v, answer).readTreeFiles(ctx, tree, "")
		if concernsReader(err) || answer.IsFull() {
			return err
		}
		if err == nil {
			visit(path, files)
		}
	}
	return nil
}

// concernsReader is true for an error that is about the reader of a repository, and not about one directory.
func concernsReader(err error) bool {
	return failure.ClassOf(err) == failure.ClassTooCostly || failure.IsTransient(err)
}

// findReadable returns the tree at a path, zero without a tree, and its files that the snapshot lacks. It returns an error for a tree with too many.
func (s *Snapshot) findReadable(ctx context.Context, path string) (plumbing.Hash, []plumbing.Hash, error) {
	e, ok, err := s.branch.Find(ctx, path)
	if err != nil || !ok || !e.IsDir() {
		return plumbing.ZeroHash, nil, err
	}
	lacking, err := s.branch.MissingFiles(ctx, e.ID, true, maxTreeFiles)
	return e.ID, lacking, err
}

// fetchMissing returns the view of the branch with objects. It fetches the objects that the view lacks.
func (c *Client) fetchMissing(ctx context.Context, s *Snapshot, ids []plumbing.Hash) (objects.View, error) {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id plumbing.Hash) bool { _, isKnown := s.branch.Object(id); return isKnown })
	slices.SortFunc(missing, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	if missing = slices.Compact(missing); len(missing) == 0 {
		return s.branch, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	fetched, err := c.fetchObjects(ctx, s.branch.Meter(), s.seen, missing)
	if err != nil {
		return objects.View{}, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	return s.branch.AddObjects(fetched), nil
}
