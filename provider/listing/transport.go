package listing

import (
	"context"
	"io"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A responseLimit limits the bytes that are read from one response of the API server. The context of the request holds it.
type responseLimit struct {
	// isRefused is true for a list of cached objects, whose request is not sent.
	isRefused bool
	// left is the number of bytes that may still be read.
	left int64
	// isCut is true once reading stopped before the end of the response.
	isCut bool
}

// responseBytes returns the number of bytes that were read of the response to the request of a page.
func (l *responseLimit) responseBytes() int64 { return maxPageBytes - l.left }

type responseLimitKey struct{}

// limitFromContext returns the limit of the response to a request, or nil.
func limitFromContext(ctx context.Context) *responseLimit {
	limit, _ := ctx.Value(responseLimitKey{}).(*responseLimit)
	return limit
}

// withResponseLimit returns the context of one request whose response is limited.
func withResponseLimit(ctx context.Context, l *responseLimit) context.Context {
	return context.WithValue(ctx, responseLimitKey{}, l)
}

// A boundedTransport limits the responses to list requests of this package.
type boundedTransport struct {
	next http.RoundTripper
}

// BoundResponses returns a transport to the API server that limits the bytes of a page. Pass it to Wrap of the client's configuration.
func BoundResponses(next http.RoundTripper) http.RoundTripper { return boundedTransport{next: next} }

// RoundTrip returns a response whose body ends at its limit. It returns an error for the request of a cached list.
func (t boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	limit := limitFromContext(req.Context())
	if limit != nil && limit.isRefused {
		return nil, errors.New("cannot list past the cache: the list is not read page by page")
	}
	resp, err := t.next.RoundTrip(req)
	if limit == nil || err != nil {
		return resp, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, limit: limit}
	return resp, nil
}

// WrappedRoundTripper returns the next transport, as client-go wants of a wrapper.
func (t boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// A boundedBody ends at its limit.
type boundedBody struct {
	io.ReadCloser

	limit *responseLimit
}

// Read returns io.EOF at the limit, so that a response with more bytes cannot be decoded: the caller checks isCut. A response that ends there is complete.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.limit.left > 0 {
		n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.limit.left)])
		b.limit.left -= int64(n)
		return n, err
	}
	n, err := b.ReadCloser.Read(make([]byte, 1))
	if b.limit.isCut = n > 0; b.limit.isCut {
		return 0, io.EOF
	}
	return 0, err
}
