package transport

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A route is where the connections of one client lead: to the server, to the proxy, and to GitHub's API.
type route struct {
	// guard is nil for what an administrator wrote.
	guard *address.Guard
	// private is set once a connection leads to an address whose ports the guard does not report.
	private atomic.Bool
	// answered is set once the server has listed its refs, which only a Git server does. From then on nothing is left to find out.
	answered atomic.Bool
}

// newDialer returns the dialer of all connections that the server leads to. It asks the guard about each address that a name was resolved to, right before
// the connection is made: what a name is resolved to before proves nothing.
func (r *route) newDialer(resolver *net.Resolver) *net.Dialer {
	d := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second, Resolver: resolver}
	if r.guard != nil {
		d.Control = r.checkAddress
	}
	return d
}

func (r *route) checkAddress(network, at string, conn syscall.RawConn) error {
	if err := r.guard.Control(network, at, conn); err != nil {
		return err
	}
	if r.guard.IsPrivate(at) {
		r.private.Store(true)
	}
	return nil
}

// privateUnreadable is the same for every host name that does not exist and for all that may be wrong at a private address, so that a
// ProviderConfig reveals neither which names exist nor which ports are open there.
const privateUnreadable = "its URL, its proxy or the base URL of its GitHub App names a host that is not known, " +
	"or leads to a private address where no Git server could be read (the provider's log has the cause)"

// concealCause replaces the cause of an error that would reveal what is at a private address.
func (r *route) concealCause(v Verb, e *failure.Error, unknownHost bool) *failure.Error {
	if r.guard == nil || r.answered.Load() || !unknownHost && !r.private.Load() || e.Class == failure.ClassAddress || e.Class == failure.ClassInvalid {
		return e
	}
	out := failure.Newf(failure.ClassTransient, "cannot %s the repository: %s", v, privateUnreadable)
	out.Cause = e.Detail
	return out.EndedBy(e.Unwrap())
}
