package git

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Commit is one commit and the trees below it, without its files.
type Commit struct {
	view view
}

// Size returns how many bytes the commit takes, by and large.
func (c *Commit) Size() int { return c.view.bytes }

// FetchCommit returns the trees of a commit, by its id and without any
// history. A server gives the tip of a branch to everybody, and other commits
// only if it is set up so; one that it does not give is ClassNotFound. It
// returns an *Error.
func (c *Client) FetchCommit(ctx context.Context, id string) (*Commit, error) {
	if !plumbing.IsHash(id) {
		return nil, failf(ClassInvalid, "cannot fetch commit: %q is no commit id", shorten(id))
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	v, err := c.fetchCommit(ctx, plumbing.NewHash(id))
	if err == nil {
		return &Commit{view: v}, nil
	}
	failed := c.fail(ctx, verbRead, err)
	if refused(err) {
		return nil, failf(ClassNotFound, "cannot fetch commit %s: the repository does not have it, or does not give it", id)
	}
	return nil, failed
}

func (c *Client) fetchCommit(ctx context.Context, id plumbing.Hash) (view, error) {
	s, err := c.uploadSession(ctx)
	if err != nil {
		return view{}, err
	}
	defer s.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.advertised(ctx, s)
	if err != nil {
		return view{}, err
	}
	f := fetch{session: s, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	v, _, err := f.view(ctx, id, view{}, withoutBlobs)
	return v, err
}

// refused is true if a server has no such object, or gives none that no ref
// names. It has only words for that.
func refused(err error) bool {
	text := strings.ToLower(err.Error())
	for _, words := range []string{"not our ref", "unadvertised object", "bad object", "empty uploadpack", "remote repository is empty"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// Subtree returns the id that a directory of the commit has without one of its
// entries, whether that is there or not; nothing if there is no directory. It
// returns an *Error if the path is refused, or the server left something out.
func (c *Commit) Subtree(path, without string) (string, error) {
	e, ok, err := c.view.find(path)
	if err != nil || !ok || !e.isDir() {
		return "", err
	}
	entries, err := c.view.entries(e.id)
	if err != nil {
		return "", err
	}
	kept := make([]entry, 0, len(entries))
	for _, e := range entries {
		if e.name != without {
			kept = append(kept, e)
		}
	}
	return newObject(plumbing.TreeObject, encodeTree(kept)).id.String(), nil
}

// Holds reports whether a directory of the commit has an entry of one of these
// names. The empty path is the root. It returns an *Error if the path is
// refused.
func (c *Commit) Holds(path string, names ...string) (bool, error) {
	entries, err := c.view.list(path)
	for _, name := range names {
		if _, ok := entries[name]; ok {
			return true, err
		}
	}
	return false, err
}
