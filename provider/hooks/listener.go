package hooks

import (
	"net"
	"sync"
	"time"
)

// A listener accepts a bounded number of connections. Where there are too many, the oldest connection is closed for the next one, and a network with too many
// closes its own.
type listener struct {
	net.Listener

	places *readPlaces
	now    func() time.Time
}

// Accept waits for a connection that has a place. Others are closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		place := l.places.takeReadPlace(networkOfAddress(accepted.RemoteAddr().String()), l.now(), func() { _ = accepted.Close() })
		if place != nil {
			return &connection{Conn: accepted, free: sync.OnceFunc(func() { l.places.freeReadPlace(place) })}, nil
		}
		_ = accepted.Close()
	}
}

// A connection frees its place when it is closed.
type connection struct {
	net.Conn

	free func()
}

// Close closes the connection, and frees its place.
func (c *connection) Close() error {
	c.free()
	return c.Conn.Close()
}
