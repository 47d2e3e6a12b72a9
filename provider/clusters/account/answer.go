package account

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/time/rate"
)

// A Kind is the kind of a request, which bounds the size of its answer.
type Kind int

// Kinds of answers. The zero value is the kind with the smallest bound.
const (
	// ObjectAnswer has one object, or a few small ones.
	ObjectAnswer Kind = iota
	// PageAnswer has a page of a list.
	PageAnswer
	// EventsAnswer has the events of a watch.
	EventsAnswer
)

// An Expectation is the expected answer of a request, and the account that pays for it. It is part of the request's context.
type Expectation struct {
	// Kind of the answer.
	Kind Kind
	// Account of who wrote the kubeconfig. Only the provider's own cluster answers without one.
	Account *Account
	// OnExceeded is called when a stream of events exceeds its bound: client-go makes a text of such an error. It may be nil.
	OnExceeded func(error)

	// read is how much came.
	read int64
	// unanswered is why the last request got no answer. The client hides it from who watches: it returns a watch without events.
	unanswered error
	// hasTurn is true while a large answer is read and decoded.
	hasTurn bool
	// held is the memory that the account has given for the answer.
	held int64
}

type expectationKey struct{}

// WithExpectation returns a context for requests that are answered so. The expectation is good for one request at a time.
func WithExpectation(ctx context.Context, e *Expectation) context.Context {
	return context.WithValue(ctx, expectationKey{}, e)
}

// expectationOf returns the expectation of a request. It returns an AnswerError for a request that no account pays for, which must not be sent.
func expectationOf(ctx context.Context) (*Expectation, error) {
	e, ok := ctx.Value(expectationKey{}).(*Expectation)
	if !ok || e.Account == nil {
		return nil, &AnswerError{Detail: "the provider asks the cluster nothing: no account pays for the answer", Passing: true}
	}
	return e, nil
}

// Read returns the size of the answer so far, in bytes.
func (e *Expectation) Read() int64 { return e.read }

// Unanswered returns why the last request got no answer. It is nil if there was one.
func (e *Expectation) Unanswered() error { return e.unanswered }

// awaitLargeTurn waits until no other large answer of the same author is read.
func (e *Expectation) awaitLargeTurn(ctx context.Context) error {
	if e.hasTurn || e.Kind == EventsAnswer {
		return nil
	}
	select {
	case e.Account.turn <- struct{}{}:
		e.hasTurn = true
		return nil
	case <-ctx.Done():
		return &AnswerError{Detail: "other clusters of the same author send large answers, and one is read at a time", Passing: true}
	}
}

// reserveMemory takes the memory of an object that is being read, which no store pays for. It returns an AnswerError while the account has no memory left.
func (e *Expectation) reserveMemory(decoded int64) error {
	if e.Kind != ObjectAnswer || decoded-e.held < heldStep {
		return nil
	}
	if e.Account.memory.Take(decoded-e.held) != nil {
		return &AnswerError{Detail: "other objects and lists of the same tenant take the memory that the answer needs", Passing: true}
	}
	e.held = decoded
	return nil
}

// End returns the memory of the answer to its account, and lets the next large answer be read.
func (e *Expectation) End() {
	if e.held > 0 {
		_ = e.Account.memory.Take(-e.held) // A release of memory never fails.
		e.held = 0
	}
	if e.hasTurn {
		<-e.Account.turn
		e.hasTurn = false
	}
}

// paceWatchEvents waits until as many events may be read. Only clusters of an author that sends faster than that wait.
func (e *Expectation) paceWatchEvents(ctx context.Context, events int) error {
	for events > 0 {
		n := min(events, e.Account.events.Burst())
		if err := waitForEvents(ctx, e.Account.events, n); err != nil {
			return err
		}
		events -= n
	}
	return nil
}

func waitForEvents(ctx context.Context, l *rate.Limiter, n int) error {
	return errors.Wrap(l.WaitN(ctx, n), "cannot wait for the turn of an event")
}

// NewTransport returns a transport that sends no request that no account pays for, and reads no more of an answer than its kind may have. A number of answers
// other than watches may come at the same time.
func NewTransport(next http.RoundTripper, places int) http.RoundTripper {
	return &boundedTransport{next: next, places: make(chan struct{}, places)}
}

// A boundedTransport sends no request that no account pays for, and reads no more of an answer than its kind may have. It counts bytes after
// decompression.
type boundedTransport struct {
	next http.RoundTripper
	// places of the answers other than watches that may come at the same time.
	places chan struct{}
}

// RoundTrip returns an answer whose body fails with an AnswerError where it exceeds its bound. It returns an AnswerError for a request without an account.
func (t *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	e, err := expectationOf(req.Context())
	if err != nil {
		return nil, refuseRequest(req, err)
	}
	leave, err := t.takeAnswerPlace(req.Context(), e.Kind)
	if err != nil {
		return nil, refuseRequest(req, err)
	}
	resp, err := t.next.RoundTrip(req)
	if e.unanswered = err; err != nil {
		leave()
		return nil, err //nolint:wrapcheck // A RoundTripper returns what the one behind it does.
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, ctx: req.Context(), expected: e, bound: e.Account.bounds.answerBound(e.Kind), leave: leave}
	return resp, nil
}

// takeAnswerPlace waits for a place among the answers of the connection. A watch needs none: it would never give it back.
func (t *boundedTransport) takeAnswerPlace(ctx context.Context, k Kind) (func(), error) {
	if k == EventsAnswer {
		return func() {}, nil
	}
	select {
	case t.places <- struct{}{}:
		return sync.OnceFunc(func() { <-t.places }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refuseRequest closes the body of a request that is not sent, as a RoundTripper has to, and returns the error.
func refuseRequest(req *http.Request, err error) error {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return err
}

// A boundedBody is an answer that is counted while it is read.
type boundedBody struct {
	io.ReadCloser

	ctx      context.Context //nolint:containedctx // It is that of the request whose answer is read.
	expected *Expectation
	bound    bound
	counter  jsonCounter
	failed   error
	// unpaid is the number of read event bytes that the pace has not charged yet.
	unpaid int
	// leave gives the place of the answer back.
	leave func()
}

// Close ends the answer, and gives its place back.
func (b *boundedBody) Close() error {
	b.leave()
	return b.ReadCloser.Close()
}

// Read returns an AnswerError once the answer exceeds its bound, and ever after.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.ReadCloser.Read(p)
	if failed := b.countReadBytes(p[:n]); failed != nil {
		return 0, b.recordFailure(failed)
	}
	return n, b.explainCutAnswer(err)
}

func (b *boundedBody) recordFailure(err error) error {
	b.failed = err
	var exceeded *AnswerError
	if errors.As(err, &exceeded) && b.expected.OnExceeded != nil {
		b.expected.OnExceeded(err)
	}
	return err
}

// countReadBytes counts the bytes of one read.
func (b *boundedBody) countReadBytes(p []byte) error {
	if b.expected.Kind == EventsAnswer {
		return b.countEvents(p)
	}
	b.counter.countJSONText(p, false)
	b.expected.read += int64(len(p))
	if err := b.bound.checkAnswerSize(b.counter.bytes, b.counter.decoded); err != nil {
		return err
	}
	if b.counter.bytes > largeAnswer || b.counter.decoded > largeDecoded {
		if err := b.expected.awaitLargeTurn(b.ctx); err != nil {
			return err
		}
	}
	return b.expected.reserveMemory(b.counter.decoded)
}

func (b *boundedBody) countEvents(p []byte) error {
	events := 0
	b.unpaid += len(p)
	for len(p) > 0 {
		n, ended := b.counter.countJSONText(p, true)
		if err := b.bound.checkAnswerSize(b.counter.bytes, b.counter.decoded); err != nil {
			return err
		}
		if ended {
			events++
			b.counter = jsonCounter{}
		}
		p = p[n:]
	}
	events, b.unpaid = events+b.unpaid/eventBytes, b.unpaid%eventBytes
	return b.expected.paceWatchEvents(b.ctx, events)
}

// explainCutAnswer returns why an answer did not end. Events of watches may end at any time.
func (b *boundedBody) explainCutAnswer(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), b.expected.Kind == EventsAnswer, b.counter.bytes == 0:
		return err
	case errors.Is(b.ctx.Err(), context.Canceled):
		return err
	case b.ctx.Err() != nil:
		return &AnswerError{Detail: "the cluster does not end its answer in time", Passing: true}
	}
	return &AnswerError{Detail: "the cluster ends the connection in the middle of an answer", Passing: true}
}
