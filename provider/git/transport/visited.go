package transport

import (
	"context"
	"net"
	"net/http/httptrace"
	"slices"
	"sync"
)

// A visitedAddresses has the addresses that one operation led to. It is safe for concurrent use: a dialer tries several addresses of a name at once.
type visitedAddresses struct {
	mu sync.Mutex
	// all addresses, with their ports, that a connection was tried to, or that one was used of.
	all []string
	// connected is the address of the last connection that was used. Empty before the first connection.
	connected string
}

type visitedKey struct{}

// StartOperation returns the context of an operation that is about to begin. The visited addresses decide whether its failure may reveal its cause.
func (c *Conn) StartOperation(ctx context.Context) context.Context {
	if c.route.guard == nil {
		return ctx
	}
	v := &visitedAddresses{}
	return httptrace.WithClientTrace(context.WithValue(ctx, visitedKey{}, v), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { v.recordConnection(info.Conn) },
	})
}

// visitedFromContext returns the addresses that the operation of a context visited. Nil if StartOperation did not begin it.
func visitedFromContext(ctx context.Context) *visitedAddresses {
	v, _ := ctx.Value(visitedKey{}).(*visitedAddresses)
	return v
}

func (v *visitedAddresses) recordAttempt(addr string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, addr)
}

// recordConnection records a connection, which an earlier operation may have opened.
func (v *visitedAddresses) recordConnection(conn net.Conn) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.connected = conn.RemoteAddr().String()
	v.all = append(v.all, v.connected)
}

// forgetConnection drops the last connection, so that only later connections count.
func (v *visitedAddresses) forgetConnection() {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.connected = ""
}

func (v *visitedAddresses) lastConnected() string {
	if v == nil {
		return ""
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.connected
}

func (v *visitedAddresses) copyAddresses() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.all)
}
