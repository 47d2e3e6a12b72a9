package git

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// A Commit is one commit and the trees below it, without its files.
type Commit struct {
	view objects.View
}

// Open returns the commit with a new meter, for another reader.
func (c *Commit) Open() *Commit { return &Commit{view: c.view.Open(objects.NewMeter())} }

// Closed returns the commit for a memory that readers share: it refuses to be read until it is opened.
func (c *Commit) Closed() *Commit { return &Commit{view: c.view.Open(nil)} }

// Size returns the approximate memory of the commit in bytes.
func (c *Commit) Size() int { return c.view.Size() }

// FetchCommit returns the trees of a commit, by its id and without any history.
// A server gives the tip of a branch to each client, and other commits only if
// it is set up so; a refused commit is ClassNotFound. It returns an *Error.
func (c *Client) FetchCommit(ctx context.Context, id string) (*Commit, error) {
	return c.fetchCommitFor(ctx, objects.NewMeter(), id)
}

// fetchCommitFor fetches a commit for the reader of a meter.
func (c *Client) fetchCommitFor(ctx context.Context, m *objects.Meter, id string) (*Commit, error) {
	if !plumbing.IsHash(id) {
		return nil, failure.Newf(failure.ClassInvalid, "cannot fetch commit: %q is not a commit id", failure.Shorten(id))
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	v, err := c.fetchCommitView(ctx, m, plumbing.NewHash(id))
	if err == nil {
		return &Commit{view: v}, nil
	}
	failed := c.conn.Failure(ctx, transport.VerbRead, err)
	if isObjectRefused(err) {
		return nil, failure.Newf(failure.ClassNotFound, "cannot fetch commit %s: the repository does not have it, or does not give it", id)
	}
	return nil, failed
}

func (c *Client) fetchCommitView(ctx context.Context, m *objects.Meter, id plumbing.Hash) (objects.View, error) {
	f, err := c.openFetchSession(ctx, m)
	if err != nil {
		return objects.View{}, err
	}
	defer f.Close()
	v, _, err := f.FetchTrees(ctx, id, objects.View{})
	return v, err
}

// isObjectRefused is true if a server has no such object, or refuses objects that
// no ref names. The server reports both in its text only.
func isObjectRefused(err error) bool {
	text := strings.ToLower(err.Error())
	refusals := []string{"not our ref", "unadvertised object", "bad object", "empty uploadpack", "remote repository is empty"}
	return slices.ContainsFunc(refusals, func(words string) bool { return strings.Contains(text, words) })
}

// Subtree returns the id that a directory of the commit has without one of its
// entries, whether that exists or not; nothing if the directory does not exist.
// It returns an *Error if the path is refused, or the server left something out.
func (c *Commit) Subtree(ctx context.Context, path, excluded string) (string, error) {
	e, ok, err := c.view.Find(ctx, path)
	if err != nil || !ok || !e.IsDir() {
		return "", err
	}
	id, err := c.view.TreeWithout(ctx, e.ID, excluded)
	return hexUnlessZero(id), err
}

// ID returns the id of the commit.
func (c *Commit) ID() string { return c.view.Commit.String() }

// ReadCommitFiles returns the files in a directory of a commit and in its folders, by their relative paths, without one entry of the directory. It
// returns an *Error.
func (c *Client) ReadCommitFiles(ctx context.Context, commit *Commit, path, excluded string) (map[string][]byte, error) {
	files, _, err := c.readDirectoryAt(ctx, commit.view, path, excluded)
	return files, err
}

// HasAny reports whether a directory of the commit has an entry whose name matches one of these patterns, as path.Match has them. The empty directory is the
// root. It returns an *Error if the path of the directory is refused.
func (c *Commit) HasAny(ctx context.Context, dir string, patterns ...string) (bool, error) {
	tree := c.view.Tree
	if dir != "" {
		e, ok, err := c.view.Find(ctx, dir)
		if err != nil || !ok || !e.IsDir() {
			return false, err
		}
		tree = e.ID
	}
	for e, err := range c.view.Entries(ctx, tree) {
		if err != nil || slices.ContainsFunc(patterns, func(pattern string) bool { return matchesName(pattern, e.Name) }) {
			return err == nil, err
		}
	}
	return false, nil
}

// matchesName reports whether a name matches a pattern. A malformed pattern matches none.
func matchesName(pattern, name string) bool {
	isMatch, err := path.Match(pattern, name)
	return err == nil && isMatch
}
