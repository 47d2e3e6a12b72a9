package git

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// Contains reports whether a commit is in the history of the branch's tip in the snapshot. It asks the server once for an unknown commit. It returns an
// *Error.
func (c *Client) Contains(ctx context.Context, s *Snapshot, commit string) (bool, error) {
	if isContained, isKnown := s.Contains(commit); isKnown {
		return isContained, nil
	}
	id := plumbing.NewHash(commit)
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	commits, err := c.fetchCommitsUntil(ctx, s.branch.Meter(), s.seen, id)
	if err != nil {
		return false, c.historyError(ctx, commit, err)
	}
	if !slices.Contains(commits, id) {
		s.history.AddAbsent(id)
		return false, nil
	}
	s.history.Add(commits...)
	return true, nil
}

// historyError returns the error of a search for a commit. The message names the limit if too many commits came after the commit.
func (c *Client) historyError(ctx context.Context, commit string, err error) error {
	out := c.conn.Failure(ctx, transport.VerbRead, err)
	if failure.ClassOf(out) != failure.ClassTooLarge {
		return out
	}
	return failure.Newf(failure.ClassTooLarge, "cannot read the repository: more commits came after commit %s than one answer of the server may have", failure.Shorten(commit))
}

// fetchCommitsUntil fetches the commits from a tip to an ancestor. A result without the ancestor means that it is not in the history of the tip.
func (c *Client) fetchCommitsUntil(ctx context.Context, m *objects.Meter, tip, ancestor plumbing.Hash) ([]plumbing.Hash, error) {
	f, err := c.openFetchSession(ctx, m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.FetchCommitsUntil(ctx, tip, ancestor)
}
