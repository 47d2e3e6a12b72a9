package transport

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// maxWordsBytes is how much is read of the text of an error.
const maxWordsBytes = 1 << 10

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
		keepServerMessage(res)
	}
	limit := b.limit
	if !strings.HasSuffix(req.URL.Path, "/"+transport.UploadPackServiceName) {
		limit = min(limit, maxListBytes)
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit, count: budget.CountOf(req.Context())}
	return res, nil
}

// keepServerMessage reduces the body of an error to the server's message to users: the beginning of a plain text. A page for browsers does not help. A text that was
// cut ends with a whole word, so that no part of a secret stays that is redacted as a whole.
func keepServerMessage(res *http.Response) {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	text := []byte{}
	if err == nil && kind == "text/plain" {
		text, _ = io.ReadAll(io.LimitReader(res.Body, maxWordsBytes)) // The status counts, whatever becomes of the text.
	}
	_ = res.Body.Close()
	if len(text) == maxWordsBytes {
		text = text[:max(bytes.LastIndexAny(text, " \n"), 0)]
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
}

type limitedBody struct {
	io.ReadCloser

	left int64
	// count counts the bytes that are read, and returns an error that ends the answer. It may be nil.
	count func(bytes int) error
}

// Read reads until the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, failure.ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.count == nil {
		return n, err
	}
	if failed := b.count(n); failed != nil {
		return 0, failed
	}
	return n, err
}
