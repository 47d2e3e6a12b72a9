package git

import (
	"context"
	"maps"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Look returns what the remote holds now. It asks for the refs once, and
// fetches only what differs from the previous snapshot, which may be nil. It
// returns an *Error.
func (c *Client) Look(ctx context.Context, previous *Snapshot) (*Snapshot, error) {
	if err := c.checkSigner(); err != nil {
		return nil, err
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()

	s, err := c.UploadSession(ctx)
	if err != nil {
		return nil, c.Failure(ctx, VerbRead, err)
	}
	defer s.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.listRefs(ctx, s)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return &Snapshot{target: c.remoteKey(), empty: true, signer: c.signer}, nil
	}
	if err != nil {
		return nil, c.Failure(ctx, VerbRead, err)
	}

	next := &Snapshot{target: c.remoteKey(), empty: !hasBranches(adv), signer: c.signer, watched: c.selectWatched(adv.References)}
	old := c.previousOrEmpty(previous)
	f := fetcher{session: s, capabilities: adv.Capabilities, limit: c.maxInflated, budget: c.budget}
	var commits []plumbing.Hash
	if next.branch, commits, err = f.fetchView(ctx, adv.References[c.remote.branchRef()], old.branch, withoutBlobs); err != nil {
		return nil, c.Failure(ctx, VerbRead, err)
	}
	next.seen = next.branch.Commit
	next.history = old.history.After(next.branch.Commit, commits)
	if next.state, err = f.fetchState(ctx, adv.References[c.remote.StateRef], old.state); err != nil {
		return nil, c.Failure(ctx, VerbRead, err)
	}
	if next.state.Commit != old.state.Commit {
		next.state = next.checkStateSignature(next.state).setAsideRetired()
	}
	if previous != nil && next.equalTo(previous) {
		// Nothing goes on, so there is time.
		return previous.tidyViews(), nil
	}
	return next, nil
}

// ReadFile returns a file of the branch as it was when the snapshot was taken,
// and whether there is one. A snapshot holds no files of the branch, so this
// asks the server; if it cannot be asked for one file, for the whole tree. A
// symbolic link or a submodule is no file. It returns an *Error.
func (c *Client) ReadFile(ctx context.Context, s *Snapshot, path string) ([]byte, bool, error) {
	e, ok, err := s.branch.Find(path)
	if err != nil || !ok || !strings.HasPrefix(e.Mode, "100") {
		return nil, false, err
	}
	if o, known := s.branch.objects.Get(e.ID); known {
		return o.Data, true, nil
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	objects, err := c.fetchFile(ctx, s, e.ID)
	if err != nil {
		return nil, false, c.Failure(ctx, VerbRead, err)
	}
	data, err := View{objects: (*Layer[Object])(nil).With(objects)}.Read(plumbing.BlobObject, e.ID)
	return data, err == nil, err
}

func (c *Client) fetchFile(ctx context.Context, s *Snapshot, id plumbing.Hash) (map[plumbing.Hash]Object, error) {
	session, err := c.UploadSession(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.listRefs(ctx, session)
	if err != nil {
		return nil, err
	}
	f := fetcher{session: session, capabilities: adv.Capabilities, limit: c.maxInflated, budget: c.budget}
	// Which servers give a single file is not told by what they advertise.
	if objects, err := f.fetchObject(ctx, id, everything); err == nil || ctx.Err() != nil {
		return objects, err
	}
	return f.fetchObject(ctx, s.branch.Commit, everything)
}

// previousOrEmpty returns the snapshot if it speaks about this remote.
func (c *Client) previousOrEmpty(s *Snapshot) *Snapshot {
	if s == nil || s.target != c.remoteKey() || s.signer != c.signer {
		return &Snapshot{}
	}
	return s
}

func (s *Snapshot) equalTo(o *Snapshot) bool {
	return s.target == o.target && s.empty == o.empty && s.branch.Commit == o.branch.Commit && s.state.Commit == o.state.Commit && maps.Equal(s.watched, o.watched)
}

func hasBranches(adv *packp.AdvRefs) bool {
	for name := range adv.References {
		if strings.HasPrefix(name, branchPrefix) {
			return true
		}
	}
	return false
}
