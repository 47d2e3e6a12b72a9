package transport

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/memory"
)

const (
	// largeList is from which size on a list of refs needs a place, in bytes, and decodedPerListByte how much it takes decoded.
	largeList          = 256 << 10
	decodedPerListByte = 4

	// listsAtOnce is how many large lists of all namespaces are read at once, one of each namespace.
	listsAtOnce = 4

	// listTime is how long a large list may take from when it has its place.
	listTime = 20 * time.Second

	// maxWordsBytes is how much is read of the text of an error.
	maxWordsBytes = 1 << 10
)

// A listMeter counts the bytes of one list of refs, and holds the place of a large list.
type listMeter struct {
	budget *Budget
	read   int64
	until  time.Time
	leave  func()
}

type listMeterKey struct{}

// withListMeter returns the context of a request for a list of refs, which the budget pays for, and its meter.
func withListMeter(ctx context.Context, b *Budget) (context.Context, *listMeter) {
	m := &listMeter{budget: b, leave: func() {}}
	return context.WithValue(ctx, listMeterKey{}, m), m
}

// free gives the place and the memory of the list back.
func (m *listMeter) free() {
	m.leave()
	memory.Hold(m.budget.account.Namespace, -m.read*decodedPerListByte)
	m.read = 0
}

// countOf returns the function that counts bytes of the answer to a request. It is nil for a request that is not for a list of refs.
func countOf(ctx context.Context) func(bytes int) error {
	m, ok := ctx.Value(listMeterKey{}).(*listMeter)
	if !ok {
		return nil
	}
	return func(bytes int) error { return m.countBytes(ctx, bytes) }
}

// countBytes counts bytes. A large list waits for its place. It returns the error of the context, or context.DeadlineExceeded for a list that takes too long.
func (m *listMeter) countBytes(ctx context.Context, bytes int) error {
	m.read += int64(bytes)
	memory.Hold(m.budget.account.Namespace, int64(bytes)*decodedPerListByte)
	switch {
	case m.read <= largeList:
		return nil
	case m.until.IsZero():
		free, err := m.budget.lists.Acquire(ctx, m.budget.account)
		if err != nil {
			return err
		}
		m.leave, m.until = free, time.Now().Add(listTime)
	case time.Now().After(m.until):
		return context.DeadlineExceeded
	}
	return nil
}

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
		keepWords(res)
	}
	limit := b.limit
	if !strings.HasSuffix(req.URL.Path, "/"+transport.UploadPackServiceName) {
		limit = min(limit, maxListBytes)
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit, count: countOf(req.Context())}
	return res, nil
}

// keepWords reduces the body of an error to the server's message to users: the beginning of a plain text. A page for browsers does not help. A text that was
// cut ends with a whole word, so that no part of a secret stays that is redacted as a whole.
func keepWords(res *http.Response) {
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
