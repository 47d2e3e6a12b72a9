package git

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A canceledBody ends with its request, as one of net/http does.
type canceledBody struct {
	io.Reader

	request context.Context //nolint:containedctx // It is what the body ends with.
}

// Read fails once the request ended.
func (b canceledBody) Read(p []byte) (int, error) {
	if err := b.request.Err(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

// Close does nothing.
func (canceledBody) Close() error { return nil }

type roundTrip func(*http.Request) *http.Response

// RoundTrip answers.
func (fn roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return fn(req), nil }

func TestStallCountsWaitingForTheServerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stallLimit{time: stallTime, next: roundTrip(func(req *http.Request) *http.Response {
			return &http.Response{Body: canceledBody{Reader: strings.NewReader("pack"), request: req.Context()}}
		})}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := l.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // It was read.
		time.Sleep(2 * stallTime)
		if got, err := io.ReadAll(res.Body); string(got) != "pack" || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("An answer that waits for its turn in memory is not a server that stalls.\nRead(): got %q, %v", got, err)
		}
	})
}
