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
	ctx, cancel := withDeadline(ctx)
	defer cancel()

	s, err := c.uploadSession(ctx)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	defer s.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.advertised(ctx, s)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return &Snapshot{target: c.target(), empty: true, signer: c.signer}, nil
	}
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}

	next := &Snapshot{target: c.target(), empty: !hasBranches(adv), signer: c.signer, noted: c.notedIn(adv.References)}
	old := c.known(previous)
	f := fetch{session: s, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	var commits []plumbing.Hash
	if next.branch, commits, err = f.view(ctx, adv.References[c.remote.branchRef()], old.branch, withoutBlobs); err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	next.seen = next.branch.commit
	next.history = old.history.after(next.branch.commit, commits)
	if next.state, err = f.state(ctx, adv.References[c.remote.StateRef], old.state); err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	if next.state.commit != old.state.commit {
		next.state = next.judge(next.state).setAside()
	}
	if previous != nil && next.same(previous) {
		// Nothing goes on, so there is time.
		return previous.tidy(), nil
	}
	return next, nil
}

// ReadFile returns a file of the branch as it was when the snapshot was taken,
// and whether there is one. A snapshot holds no files of the branch, so this
// asks the server; if it cannot be asked for one file, for the whole tree. A
// symbolic link or a submodule is no file. It returns an *Error.
func (c *Client) ReadFile(ctx context.Context, s *Snapshot, path string) ([]byte, bool, error) {
	e, ok, err := s.branch.find(path)
	if err != nil || !ok || !strings.HasPrefix(e.mode, "100") {
		return nil, false, err
	}
	if o, known := s.branch.objects.get(e.id); known {
		return o.data, true, nil
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	objects, err := c.fetchFile(ctx, s, e.id)
	if err != nil {
		return nil, false, c.fail(ctx, verbRead, err)
	}
	data, err := view{objects: (*layer[object])(nil).with(objects)}.read(plumbing.BlobObject, e.id)
	return data, err == nil, err
}

func (c *Client) fetchFile(ctx context.Context, s *Snapshot, id plumbing.Hash) (map[plumbing.Hash]object, error) {
	session, err := c.uploadSession(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.advertised(ctx, session)
	if err != nil {
		return nil, err
	}
	f := fetch{session: session, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	// Which servers give a single file is not told by what they advertise.
	if objects, err := f.objects(ctx, id, everything); err == nil || ctx.Err() != nil {
		return objects, err
	}
	return f.objects(ctx, s.branch.commit, everything)
}

// known returns the snapshot if it speaks about this remote.
func (c *Client) known(s *Snapshot) *Snapshot {
	if s == nil || s.target != c.target() || s.signer != c.signer {
		return &Snapshot{}
	}
	return s
}

func (s *Snapshot) same(o *Snapshot) bool {
	return s.target == o.target && s.empty == o.empty && s.branch.commit == o.branch.commit && s.state.commit == o.state.commit && maps.Equal(s.noted, o.noted)
}

func hasBranches(adv *packp.AdvRefs) bool {
	for name := range adv.References {
		if strings.HasPrefix(name, branchPrefix) {
			return true
		}
	}
	return false
}
