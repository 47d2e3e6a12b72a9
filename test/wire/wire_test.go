package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/wire"
)

// answersAt reports whether an HTTP server answers at an address. Connections are kept open between calls, so that a cut has to end them.
func answersAt(t *testing.T, address string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil
}

func TestWire(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	w, err := wire.New(t.Context(), strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	address := w.Address()
	for _, step := range []struct {
		reason string
		change func() error
		want   bool
	}{
		{reason: "A new wire leads to its server.", change: func() error { return nil }, want: true},
		{reason: "A wire that is cut refuses connections.", change: w.Cut},
		{reason: "A wire that is connected again leads to its server.", change: func() error { return w.Connect(t.Context()) }, want: true},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if got := answersAt(t, address); got != step.want || w.Address() != address {
			t.Errorf("\n%s\nanswers at %s: want %t, got %t, and now at %s", step.reason, address, step.want, got, w.Address())
		}
	}
}
