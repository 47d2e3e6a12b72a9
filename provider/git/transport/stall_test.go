package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// A canceledBody ends with its request, as one of net/http does.
type canceledBody struct {
	io.Reader

	request context.Context
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
		defer res.Body.Close()
		<-time.After(2 * stallTime)
		if got, err := io.ReadAll(res.Body); string(got) != "pack" || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("An answer that waits for its turn in memory is not a server that stalls.\nRead(): got %q, %v", got, err)
		}
	})
}

func TestStall(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("0")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer h.Close()
	slow := stallLimit{next: slowly{http.DefaultTransport}, time: stallTime / 200}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, h.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := slow.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	class, _ := classifyTransport(VerbRead, err)
	if diff := cmp.Diff(failure.ClassTransient, class); diff != "" {
		t.Errorf("\nA server that sends a byte now and then is given up\nRead(): -want, +got:\n%s\n%v", diff, err)
	}
}

// slowly reads a byte, and then nothing until the request ends.
type slowly struct {
	next http.RoundTripper
}

func (s slowly) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(req)
	if err == nil {
		res.Body = &trickle{ReadCloser: res.Body, ctx: req.Context()}
	}
	return res, err
}

type trickle struct {
	io.ReadCloser

	ctx  context.Context
	some bool
}

func (t *trickle) Read(p []byte) (int, error) {
	if t.some {
		<-t.ctx.Done()
		return 0, t.ctx.Err()
	}
	t.some = true
	return t.ReadCloser.Read(p[:1])
}
