package git

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A server that sends less than this in the time of a stall is given up: it would hold its place for as long as it likes.
const (
	stallBytes = 4 << 10
	stallTime  = 20 * time.Second
)

// impatient ends an answer that comes too slowly.
type impatient struct {
	next http.RoundTripper
	time time.Duration
}

// RoundTrip sends the request.
func (i impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	res, err := i.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel(err)
		return nil, err
	}
	b := &impatientBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, time: i.time}
	b.timer = time.AfterFunc(i.time, func() { cancel(context.DeadlineExceeded) })
	res.Body = b
	return res, nil
}

type impatientBody struct {
	io.ReadCloser

	ctx    context.Context //nolint:containedctx // It ends the read that nothing else can end.
	cancel context.CancelCauseFunc
	timer  *time.Timer
	time   time.Duration
	since  int
}

// Read reads, and gives the server more time for each part that it sent.
func (b *impatientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.since += n; b.since >= stallBytes {
		b.since = 0
		b.timer.Reset(b.time)
	}
	if err != nil && errors.Is(context.Cause(b.ctx), context.DeadlineExceeded) {
		return n, context.DeadlineExceeded
	}
	return n, err
}

// Close ends the request.
func (b *impatientBody) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	b.cancel(context.Canceled)
	return err
}
