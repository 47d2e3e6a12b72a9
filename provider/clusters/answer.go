package clusters

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/time/rate"
)

// An answerKind is the kind of a request, which bounds the size of its answer.
type answerKind int

// Kinds of answers. The zero value is the kind with the smallest bound.
const (
	objectAnswer answerKind = iota
	pageAnswer
	eventsAnswer
)

// An expectation is the expected answer of a request, and the account that pays for it. It is part of the request's context.
type expectation struct {
	kind answerKind
	// account of who wrote the kubeconfig. Only the provider's own cluster answers without one.
	account *account
	// onExceeded is called when a stream of events exceeds its bound: client-go makes a text of such an error. It may be nil.
	onExceeded func(error)

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

// withExpectation returns a context for requests that are answered so. The expectation is good for one request at a time.
func withExpectation(ctx context.Context, e *expectation) context.Context {
	return context.WithValue(ctx, expectationKey{}, e)
}

// expectationOf returns the expectation of a request. It returns an AnswerError for a request that no account pays for, which must not be sent.
func expectationOf(ctx context.Context) (*expectation, error) {
	e, ok := ctx.Value(expectationKey{}).(*expectation)
	if !ok || e.account == nil {
		return nil, &AnswerError{Detail: "the provider asks the cluster nothing: no account pays for the answer", passing: true}
	}
	return e, nil
}

// expectObject returns a context for one request that is answered by one object, or by few small ones, and its expectation, whose answer the caller ends.
func (l *link) expectObject(ctx context.Context) (context.Context, *expectation) {
	e := &expectation{kind: objectAnswer, account: l.account}
	return withExpectation(ctx, e), e
}

// takeTurn waits until no other large answer of the same author is read.
func (e *expectation) takeTurn(ctx context.Context) error {
	if e.hasTurn || e.kind == eventsAnswer {
		return nil
	}
	select {
	case e.account.turn <- struct{}{}:
		e.hasTurn = true
		return nil
	case <-ctx.Done():
		return &AnswerError{Detail: "other clusters of the same author send large answers, and one is read at a time", passing: true}
	}
}

// holdMemory takes the memory of an object that is being read, which no store pays for. It returns an AnswerError while the account has no memory left.
func (e *expectation) holdMemory(decoded int64) error {
	if e.kind != objectAnswer || decoded-e.held < heldStep {
		return nil
	}
	if e.account.memory.takeMemory(decoded-e.held) != nil {
		return &AnswerError{Detail: "other objects and lists of the same tenant take the memory that the answer needs", passing: true}
	}
	e.held = decoded
	return nil
}

// endAnswer returns the memory of the answer to its account, and lets the next large answer be read.
func (e *expectation) endAnswer() {
	if e.held > 0 {
		_ = e.account.memory.takeMemory(-e.held) // A release of memory never fails.
		e.held = 0
	}
	if e.hasTurn {
		<-e.account.turn
		e.hasTurn = false
	}
}

// paceEvents waits until as many events may be read. Only clusters of an author that sends faster than that wait.
func (e *expectation) paceEvents(ctx context.Context, events int) error {
	for events > 0 {
		n := min(events, e.account.events.Burst())
		if err := waitForEvents(ctx, e.account.events, n); err != nil {
			return err
		}
		events -= n
	}
	return nil
}

func waitForEvents(ctx context.Context, l *rate.Limiter, n int) error {
	return errors.Wrap(l.WaitN(ctx, n), "cannot wait for the turn of an event")
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
	leave, err := t.takePlace(req.Context(), e.kind)
	if err != nil {
		return nil, refuseRequest(req, err)
	}
	resp, err := t.next.RoundTrip(req)
	if e.unanswered = err; err != nil {
		leave()
		return nil, err //nolint:wrapcheck // A RoundTripper returns what the one behind it does.
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, ctx: req.Context(), expected: e, bound: e.account.bounds.boundFor(e.kind), leave: leave}
	return resp, nil
}

// takePlace waits for a place among the answers of the connection. A watch needs none: it would never give it back.
func (t *boundedTransport) takePlace(ctx context.Context, k answerKind) (func(), error) {
	if k == eventsAnswer {
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
	expected *expectation
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
	if failed := b.countRead(p[:n]); failed != nil {
		return 0, b.failWith(failed)
	}
	return n, b.explainEnd(err)
}

func (b *boundedBody) failWith(err error) error {
	b.failed = err
	var exceeded *AnswerError
	if errors.As(err, &exceeded) && b.expected.onExceeded != nil {
		b.expected.onExceeded(err)
	}
	return err
}

// countRead counts the bytes of one read.
func (b *boundedBody) countRead(p []byte) error {
	if b.expected.kind == eventsAnswer {
		return b.countEvents(p)
	}
	b.counter.countText(p, false)
	b.expected.read += int64(len(p))
	if err := b.bound.checkSize(b.counter.bytes, b.counter.decoded); err != nil {
		return err
	}
	if b.counter.bytes > largeAnswer || b.counter.decoded > largeDecoded {
		if err := b.expected.takeTurn(b.ctx); err != nil {
			return err
		}
	}
	return b.expected.holdMemory(b.counter.decoded)
}

func (b *boundedBody) countEvents(p []byte) error {
	events := 0
	b.unpaid += len(p)
	for len(p) > 0 {
		n, ended := b.counter.countText(p, true)
		if err := b.bound.checkSize(b.counter.bytes, b.counter.decoded); err != nil {
			return err
		}
		if ended {
			events++
			b.counter = jsonCounter{}
		}
		p = p[n:]
	}
	events, b.unpaid = events+b.unpaid/eventBytes, b.unpaid%eventBytes
	return b.expected.paceEvents(b.ctx, events)
}

// explainEnd returns why an answer did not end. Events of watches may end at any time.
func (b *boundedBody) explainEnd(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), b.expected.kind == eventsAnswer, b.counter.bytes == 0:
		return err
	case errors.Is(b.ctx.Err(), context.Canceled):
		return err
	case b.ctx.Err() != nil:
		return &AnswerError{Detail: "the cluster does not end its answer in time", passing: true}
	}
	return &AnswerError{Detail: "the cluster ends the connection in the middle of an answer", passing: true}
}

const (
	// Approximate memory of JSON values: a map with few entries, a list, and any value.
	mapMemory, listMemory, valueMemory = 350, 48, 48
)

// A jsonCounter counts bytes of JSON, and the memory of its decoded values. It counts text that is not JSON, too.
type jsonCounter struct {
	bytes, decoded    int64
	depth             int
	inString, escaped bool
}

// countText counts a text, or only its first value on request. It returns how much it counted, and whether the value ended.
func (c *jsonCounter) countText(p []byte, isSingle bool) (int, bool) {
	for i, b := range p {
		c.bytes++
		c.decoded++
		switch {
		case c.inString:
			c.countInString(b)
		case c.countStructure(b) && isSingle:
			return i + 1, true
		}
	}
	return len(p), false
}

func (c *jsonCounter) countInString(b byte) {
	switch {
	case c.escaped:
		c.escaped = false
	case b == '\\':
		c.escaped = true
	case b == '"':
		c.inString = false
	}
}

// countStructure returns true where the outermost value ends.
func (c *jsonCounter) countStructure(b byte) bool {
	switch b {
	case '"':
		c.inString = true
	case '{':
		c.depth, c.decoded = c.depth+1, c.decoded+mapMemory
	case '[':
		c.depth, c.decoded = c.depth+1, c.decoded+listMemory
	case ',', ':':
		c.decoded += valueMemory
	case '}', ']':
		c.depth--
		return c.depth <= 0
	}
	return false
}
