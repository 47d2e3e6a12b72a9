package hooks

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dial opens a connection to a listener, and returns both ends of it. The end of the listener is nil if it was not accepted at once.
func dial(t *testing.T, l *listener, accepted <-chan net.Conn) (sender, receiver net.Conn) {
	t.Helper()
	sender, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sender.Close() })
	select {
	case receiver = <-accepted:
	case <-isClosed(sender):
	}
	return sender, receiver
}

// isClosed returns a channel that is closed once the other end has closed a connection.
func isClosed(c net.Conn) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		_, _ = io.Copy(io.Discard, c)
	}()
	return out
}

// TestListener opens more connections than one network may have, and sends nothing.
func TestListener(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	now := make(chan time.Time, 1)
	now <- clock()
	l := &listener{Listener: tcp, places: &readPlaces{atOnce: 4, ofNetwork: 2}, now: func() time.Time {
		current := <-now
		now <- current
		return current
	}}
	accepted := make(chan net.Conn)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			accepted <- c
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	oldest, _ := dial(t, l, accepted)
	_, second := dial(t, l, accepted)
	if _, receiver := dial(t, l, accepted); receiver != nil {
		t.Error("\nA network has its connections, and no more.\nAccept(): want none")
	}
	<-now
	now <- clock().Add(slowRead)
	if _, receiver := dial(t, l, accepted); receiver == nil {
		t.Error("\nA connection that was open for some time gives its place to the next one.\nAccept(): want a connection")
	}
	<-isClosed(oldest)
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(1, len(l.places.taken)); diff != "" {
		t.Errorf("\nA connection that is closed frees its place.\nplaces: -want, +got:\n%s", diff)
	}
}
