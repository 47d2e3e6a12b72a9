// Package receivepack moves the refs of a repository with git-receive-pack, and explains refusals of the server.
package receivepack

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	gogit "github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// A Pusher moves the refs of one repository. It is safe for concurrent use.
type Pusher struct {
	conn   *transport.Conn
	budget *budget.Budget
	idle   atomic.Pointer[session]
}

// New returns a Pusher over a connection. A budget pays for the answers of the server.
func New(conn *transport.Conn, b *budget.Budget) *Pusher { return &Pusher{conn: conn, budget: b} }

// Push moves refs, in their order where the server cannot take all or nothing, and reports whether it can. Refs that stay where they are must not have moved
// either. With mustBeAtomic nothing is sent to a server that cannot. It returns a *failure.Error.
func (p *Pusher) Push(ctx context.Context, refs []Update, mustBeAtomic bool) (isAtomic bool, err error) {
	updates := slices.DeleteFunc(slices.Clone(refs), func(u Update) bool { return u.Old == u.New })
	s, err := p.openSession(ctx, len(updates))
	if err != nil {
		return false, p.conn.Failure(ctx, transport.VerbPush, err)
	}
	isAtomic = s.adv.Capabilities.Supports(capability.Atomic)
	if mustBeAtomic && !isAtomic {
		return false, failure.Newf(failure.ClassNotAtomic, "cannot push several deliveries at once: the server cannot take all or nothing")
	}
	if s.fresh {
		if err := checkUnmoved(refs, s.adv); err != nil {
			return false, err
		}
		updates = dropDoneUpdates(updates, s.adv)
	}
	err = p.sendUpdates(ctx, s.session, s.adv, updates, isAtomic)
	if err == nil || failure.IsConflict(err) {
		p.keepSession(s)
	}
	return isAtomic, err
}

// A session is a session with a server that has advertised its capabilities.
type session struct {
	session gogit.ReceivePackSession
	adv     *packp.AdvRefs
	// fresh is true if the server has just said which refs it has.
	fresh bool
}

// openSession returns a session with the server. Where several refs are moved, the
// server itself compares them with their old commits, and is not asked
// before: a race is shorter by one request, also the next push after a lost race.
// After any other failure the server is asked for its refs again.
func (p *Pusher) openSession(ctx context.Context, updates int) (*session, error) {
	if s := p.idle.Swap(nil); s != nil && updates > 1 {
		return &session{session: s.session, adv: s.adv}, nil
	}
	s, err := p.conn.ReceiveSession(ctx)
	if err != nil {
		return nil, err
	}
	adv, err := p.conn.ListRefs(ctx, s, p.budget)
	return &session{session: s, adv: adv, fresh: true}, err
}

// keepSession keeps a session that worked for the next push. One over a single
// connection, as with SSH, serves once.
func (p *Pusher) keepSession(s *session) {
	if p.conn.IsHTTP() && s.adv.Capabilities.Supports(capability.Atomic) {
		// Refs are read from the next answer of the server, and a million of them would be held until then.
		s.adv.References, s.adv.Peeled, s.adv.Shallows = nil, nil, nil
		p.idle.Store(s)
	}
}
