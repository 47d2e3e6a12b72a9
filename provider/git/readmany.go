package git

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// ReadFiles returns the contents of files of the branch by their ids, as FilesNamed names them, with one question to the server. One that it does not
// send is left out. It returns an *Error.
func (c *Client) ReadFiles(ctx context.Context, s *Snapshot, ids []string) (map[string][]byte, error) {
	wanted := make([]plumbing.Hash, 0, len(ids))
	for _, id := range ids {
		wanted = append(wanted, plumbing.NewHash(id))
	}
	v, err := c.fetchMissing(ctx, s, wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(ids))
	for _, id := range wanted {
		if content, err := v.Read(plumbing.BlobObject, id); err == nil {
			out[id.String()] = content
		}
	}
	return out, nil
}

// ReadDirectories returns the files of directories of the branch, by the paths of the directories and by relative paths in them, with one question to the
// server. A directory that does not exist, that has something else than files, or that has too many, is left out. It returns an *Error.
func (c *Client) ReadDirectories(ctx context.Context, s *Snapshot, paths []string) (map[string]map[string][]byte, error) {
	trees, missing := map[string]plumbing.Hash{}, []plumbing.Hash{}
	for _, path := range paths {
		e, ok, err := s.branch.Find(path)
		if err != nil || !ok || !e.IsDir() {
			continue
		}
		lacking, err := s.branch.MissingFiles(e.ID, true)
		if err != nil || len(lacking) > maxTreeFiles {
			continue
		}
		trees[path], missing = e.ID, append(missing, lacking...)
	}
	v, err := c.fetchMissing(ctx, s, missing)
	if err != nil {
		return nil, err
	}
	out := make(map[string]map[string][]byte, len(trees))
	for path, tree := range trees {
		r := treeReader{view: v, files: map[string][]byte{}, left: maxTreeBytes}
		if err := r.readDirectory(tree, "", ""); err == nil {
			out[path] = r.files
		}
	}
	return out, nil
}

// fetchMissing returns the view of the branch with objects, of which those are fetched that it lacks.
func (c *Client) fetchMissing(ctx context.Context, s *Snapshot, ids []plumbing.Hash) (objects.View, error) {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id plumbing.Hash) bool { _, known := s.branch.Object(id); return known })
	slices.SortFunc(missing, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	if missing = slices.Compact(missing); len(missing) == 0 {
		return s.branch, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	fetched, err := c.fetchObjects(ctx, s.seen, missing)
	if err != nil {
		return objects.View{}, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	return s.branch.AddObjects(fetched), nil
}
