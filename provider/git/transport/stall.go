package transport

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// A server that sends less than this in the time of a stall is given up: it would hold its place for as long as it likes.
const (
	stallBytes = 4 << 10
	stallTime  = 20 * time.Second
)

// stallLimit ends an answer that comes too slowly.
type stallLimit struct {
	next http.RoundTripper
	time time.Duration
}

// RoundTrip sends the request.
func (l stallLimit) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	res, err := l.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel(err)
		return nil, err
	}
	giveUp := func() error { cancel(context.DeadlineExceeded); return nil }
	res.Body = &stallBody{
		stallReader: stallReader{next: res.Body, time: l.time, left: l.time, giveUp: giveUp}, body: res.Body, cancel: cancel,
	}
	return res, nil
}

// A stallBody is an answer that ends when the server stalls.
type stallBody struct {
	stallReader

	body   io.Closer
	cancel context.CancelCauseFunc
}

// Close ends the request.
func (b *stallBody) Close() error {
	err := b.body.Close()
	b.cancel(context.Canceled)
	return err
}

// A stallReader waits for a server that sends something, and gives up a server that does not. It counts only the time in which it waits for
// the server: an answer that waits for its turn in memory is not the server's fault.
type stallReader struct {
	next io.Reader
	// time that the server has for each stallBytes.
	time time.Duration
	// giveUp ends the answer.
	giveUp func() error

	left  time.Duration
	since int
	gone  atomic.Bool
}

// Read reads, and gives the server more time for each part that it sent.
func (r *stallReader) Read(b []byte) (int, error) {
	began := time.Now()
	timer := time.AfterFunc(r.left, func() {
		r.gone.Store(true)
		_ = r.giveUp()
	})
	n, err := r.next.Read(b)
	timer.Stop()
	r.left -= time.Since(began)
	if r.since += n; r.since >= stallBytes {
		r.since, r.left = 0, r.time
	}
	if err != nil && r.gone.Load() {
		return n, context.DeadlineExceeded
	}
	return n, err
}
