package git

import (
	"context"
	"maps"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// Look returns a snapshot of the remote. It asks for the refs once, and fetches
// only objects that the previous snapshot, which may be nil, lacks. It returns
// an *Error.
func (c *Client) Look(ctx context.Context, previous *Snapshot) (*Snapshot, error) {
	if err := c.checkSigner(); err != nil {
		return nil, err
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()

	m := objects.NewMeter()
	f, err := c.openFetchSession(ctx, m)
	if transport.IsEmptyRepository(err) {
		next := c.emptySnapshot()
		next.target, next.empty, next.signer = c.snapshotTarget(), true, c.signer
		return next.withMeter(m), nil
	}
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	defer f.Close()

	next := &Snapshot{target: c.snapshotTarget(), empty: !f.HasBranch, signer: c.signer, watched: c.selectWatched(f.Refs)}
	old := c.previousOrEmpty(previous).withMeter(m)
	var commits []plumbing.Hash
	if next.branch, commits, err = f.FetchTrees(ctx, f.Refs[c.remote.branchRef()], old.branch); err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	next.seen = next.branch.Commit
	next.history = old.history.After(next.branch.Commit, commits)
	next.state = old.state
	if tip := f.Refs[c.remote.StateRef]; tip != old.state.Commit {
		v, err := f.FetchState(ctx, tip, old.state.View)
		if err != nil {
			return nil, c.conn.Failure(ctx, transport.VerbRead, err)
		}
		if next.state, err = next.checkStateSignature(stateView{View: v}).setAsideRetired(ctx); err != nil {
			return nil, c.conn.Failure(ctx, transport.VerbRead, err)
		}
	}
	if previous != nil && next.holdsSameAs(previous) {
		// Nothing goes on, so there is time.
		return previous.withMeter(m).withoutGarbage(ctx), nil
	}
	return next, nil
}

// ReadFile returns a file of the branch as it was when the snapshot was taken,
// and whether there is one. A snapshot holds no files of the branch, so this
// asks the server; if it cannot be asked for one file, for the whole tree. A
// symbolic link or a submodule does not count as a file. It returns an *Error.
func (c *Client) ReadFile(ctx context.Context, s *Snapshot, path string) ([]byte, bool, error) {
	e, ok, err := s.branch.Find(ctx, path)
	if err != nil || !ok || !strings.HasPrefix(e.Mode, "100") {
		return nil, false, err
	}
	if o, isKnown := s.branch.Object(e.ID); isKnown {
		return o.Data, true, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	fetched, err := c.fetchFileObject(ctx, s, e.ID)
	if err != nil {
		return nil, false, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	data, err := s.branch.AddObjects(fetched).Read(ctx, plumbing.BlobObject, e.ID)
	return data, err == nil, err
}

func (c *Client) fetchFileObject(ctx context.Context, s *Snapshot, id plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	f, err := c.openFetchSession(ctx, s.branch.Meter())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Servers do not advertise whether they give a single file.
	if fetched, err := f.FetchObject(ctx, id); err == nil || ctx.Err() != nil {
		return fetched, err
	}
	return f.FetchObject(ctx, s.branch.Commit)
}

// previousOrEmpty returns the snapshot if it speaks about this remote.
func (c *Client) previousOrEmpty(s *Snapshot) *Snapshot {
	if s == nil || s.target != c.snapshotTarget() || s.signer != c.signer {
		return c.emptySnapshot()
	}
	return s
}

// emptySnapshot returns a snapshot without commits, to which objects are added at the cost of the remote's namespace.
func (c *Client) emptySnapshot() *Snapshot {
	v := objects.EmptyView(c.budget.Namespace())
	return &Snapshot{branch: v, state: stateView{View: v}}
}

func (s *Snapshot) holdsSameAs(o *Snapshot) bool {
	return s.target == o.target && s.empty == o.empty && s.branch.Commit == o.branch.Commit && s.state.Commit == o.state.Commit && maps.Equal(s.watched, o.watched)
}
