package listing

import (
	"context"
	"io"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// An answer bounds the bytes that are read of one answer of the API server. It is part of the context of its request.
type answer struct {
	// isRefused is true for a list of cached objects, whose request is not sent.
	isRefused bool
	// left is how many bytes may still be read.
	left int64
	// isCut is true once the answer was not read to its end.
	isCut bool
}

type answerKey struct{}

// withAnswer returns a context for one request that is answered so.
func withAnswer(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// A boundedTransport bounds the answers to lists of this package.
type boundedTransport struct {
	next http.RoundTripper
}

// BoundAnswers returns a transport to the API server that reads no more of a page than fits, for the Wrap of a client's configuration.
func BoundAnswers(next http.RoundTripper) http.RoundTripper { return boundedTransport{next: next} }

// RoundTrip returns an answer that ends where its bound is. It returns an error for the request of a cached list.
func (t boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	a, ok := req.Context().Value(answerKey{}).(*answer)
	if ok && a.isRefused {
		return nil, errors.New("cannot list past the cache: the list is not read page by page")
	}
	resp, err := t.next.RoundTrip(req)
	if !ok || err != nil {
		return resp, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, answer: a}
	return resp, nil
}

// WrappedRoundTripper returns the next transport, as client-go wants of a wrapper.
func (t boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// A boundedBody ends at the bound of its answer.
type boundedBody struct {
	io.ReadCloser

	answer *answer
}

// Read returns io.EOF at the bound, so that the answer cannot be decoded. The caller looks at isCut.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.answer.left <= 0 {
		b.answer.isCut = true
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.answer.left)])
	b.answer.left -= int64(n)
	return n, err
}
