package transport

import (
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A route is where the connections of one client lead: to the server, to the proxy, and to GitHub's API.
type route struct {
	// guard is nil for configurations of an administrator.
	guard *address.Guard

	mu sync.Mutex
	// proven are private addresses, with their ports, that answered as a Git server does. Nothing is left to find out about them.
	proven map[string]struct{}
}

// maxProven limits the proven addresses of a route. One address more makes it drop all of them, and prove them again.
const maxProven = 64

func newServerRoute(g *address.Guard) *route { return &route{guard: g, proven: map[string]struct{}{}} }

// newGuardedDialer returns the dialer of all connections that the server leads to. It asks the guard about each address that a name was resolved to, right before
// the connection is made: an earlier resolution of the name proves nothing.
func (r *route) newGuardedDialer(resolver *net.Resolver) *net.Dialer {
	d := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second, Resolver: resolver}
	if r.guard != nil {
		d.ControlContext = r.checkAddress
	}
	return d
}

func (r *route) checkAddress(ctx context.Context, network, addr string, conn syscall.RawConn) error {
	if err := r.guard.Control(network, addr, conn); err != nil {
		return err
	}
	visitedFromContext(ctx).recordAttempt(addr)
	return nil
}

// recordProof records that the address of the operation's last connection answered as a Git server, or as GitHub's API, does.
func (r *route) recordProof(ctx context.Context) {
	addr := visitedFromContext(ctx).lastConnected()
	if r.guard == nil || addr == "" || !r.guard.IsPrivate(addr) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.proven) >= maxProven {
		clear(r.proven)
	}
	r.proven[addr] = struct{}{}
}

// isConcealed reports whether the operation led to a private address that is not proven. An operation that was not begun with StartOperation counts as
// concealed.
func (r *route) isConcealed(ctx context.Context) bool {
	v := visitedFromContext(ctx)
	if v == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(v.copyAddresses(), func(addr string) bool {
		_, proven := r.proven[addr]
		return !proven && r.guard.IsPrivate(addr)
	})
}

// privateUnreadable is the same for every host name that does not exist and for all that may be wrong at a private address, so that a
// ProviderConfig reveals neither which names exist nor which ports are open there.
const privateUnreadable = "its URL, its proxy or the base URL of its GitHub App names a host that is not known, " +
	"or leads to a private address where no Git server could be read (the provider's log has the cause)"

// concealCause replaces the cause of an error that would reveal a server at a private address, or its absence. It conceals a name that does not exist even
// after a server has answered: the name may be an alias, which its owner lets lead to another name each time.
func (r *route) concealCause(ctx context.Context, v Verb, e *failure.Error, unknownHost bool) *failure.Error {
	if r.guard == nil || e.Class == failure.ClassAddress || e.Class == failure.ClassInvalid || !unknownHost && !r.isConcealed(ctx) {
		return e
	}
	out := failure.Newf(failure.ClassTransient, "cannot %s the repository: %s", v, privateUnreadable)
	out.Cause = e.Detail
	return out.EndedBy(e.Unwrap())
}
