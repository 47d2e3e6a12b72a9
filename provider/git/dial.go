package git

import (
	"net"
	"time"
)

// dialer of all connections that the remote leads to. It asks the guard about each address that a name was resolved to, right before
// the connection is made: what a name is resolved to before proves nothing.
func (r Remote) dialer(resolver *net.Resolver) *net.Dialer {
	d := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second, Resolver: resolver}
	if r.Guard != nil {
		d.Control = r.Guard.Control
	}
	return d
}
