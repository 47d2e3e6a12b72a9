package git

import (
	"context"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/receivepack"
)

// A Pushed is the result of a push.
type Pushed struct {
	// Snapshot is the state of the remote after the push.
	Snapshot *Snapshot
	// Atomic is whether the server takes the state and the branch both or not
	// at all. Where it cannot, the state goes first.
	Atomic bool
}

// Push updates the refs of the remote to the commits of the proposal. It never
// forces: a ref that moved since the snapshot is a conflict, and nothing is
// written (without an atomic server, the state may be). A second push of the
// same proposal succeeds and writes nothing. It returns an *Error.
func (c *Client) Push(ctx context.Context, p *Proposal) (*Pushed, error) {
	if p.after.target != c.snapshotTarget() {
		return nil, failure.Newf(failure.ClassInvalid, "cannot push: the proposal is for another repository or branch")
	}
	if p.Empty() {
		return &Pushed{Snapshot: p.after}, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	isAtomic, err := c.pusher.Push(ctx, c.proposalUpdates(p), p.commits > 1)
	if err != nil {
		return nil, err
	}
	p.recordPushed()
	return &Pushed{Snapshot: p.after, Atomic: isAtomic}, nil
}

// proposalUpdates returns both refs of a Proposal, whether they change or not. The state comes first, for it is the log that is written ahead.
func (c *Client) proposalUpdates(p *Proposal) []receivepack.Update {
	return []receivepack.Update{
		{Ref: c.remote.StateRef, IsState: true, Old: p.before.state.Commit, New: p.after.state.Commit, Objects: p.state},
		{Ref: c.remote.branchRef(), Old: p.before.branch.Commit, New: p.after.branch.Commit, Objects: p.branch},
	}
}
