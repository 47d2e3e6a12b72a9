package transport

import (
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// bodyLimit ends an answer that is longer than limit, or than a list may be where it brings no objects.
type bodyLimit struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip sends the request.
func (b bodyLimit) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		// The text of an error page does not help and may repeat the request.
		_ = res.Body.Close()
		res.Body = http.NoBody
	}
	limit := b.limit
	if !strings.HasSuffix(req.URL.Path, "/"+transport.UploadPackServiceName) {
		limit = min(limit, maxListBytes)
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit}
	return res, nil
}

type limitedBody struct {
	io.ReadCloser

	left int64
}

// Read reads until the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, failure.ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
