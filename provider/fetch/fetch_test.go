package fetch

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/address"
)

// newClient returns the client of one namespace.
func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o, NewMeasurementAccount())
	if err != nil {
		t.Fatal(err)
	}
	return c.ForNamespace("team-a")
}

func do(t *testing.T, c *Client, address string, k Credentials) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Do(t.Context(), Request{URL: u, Credentials: k})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(a.Status, " ", string(a.Body))
}

func TestDo(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("hello " + r.Header.Get("Authorization")))
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/good", http.StatusFound) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 10<<20)) })
	mux.HandleFunc("/full", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("a", MaxBytes))) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 10<<20))
		_ = z.Close()
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("less"))
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c := newClient(t, Options{Loopback: true})
	cases := map[string]struct {
		reason string
		client *Client
		url    string
		with   Credentials
		want   string
	}{
		"Good":   {reason: "A complete answer is returned with its status and body.", url: s.URL + "/good", want: "200 hello "},
		"Bearer": {reason: "A token is shown to the server.", url: s.URL + "/good", with: Credentials{Token: "t"}, want: "200 hello Bearer t"},
		"Basic": {
			reason: "A name and a password are shown to the server that they are for.",
			url:    s.URL + "/good", with: Credentials{Username: "u", Password: "p"}, want: "200 hello Basic dTpw",
		},
		"Bad":      {reason: "The caller decides the meaning of a status.", url: s.URL + "/bad", want: "502 "},
		"Redirect": {reason: "A redirect is not followed, not even to the same server.", url: s.URL + "/there", want: ProblemRedirect},
		"Large":    {reason: "A body over the limit is not read.", url: s.URL + "/large", want: ProblemLarge},
		"Full":     {reason: "A body at the limit is read.", url: s.URL + "/full", want: "200 " + strings.Repeat("a", MaxBytes)},
		"Bomb":     {reason: "An answer that is too large after decompression is not read.", url: s.URL + "/bomb", want: ProblemLarge},
		"Broken":   {reason: "An answer that breaks off counts as silence.", url: s.URL + "/broken", want: ProblemSilent},
		"Nobody":   {reason: "A server to which no connection is possible counts as silence.", url: "http://127.0.0.1:1/", want: ProblemSilent},
		"Refused": {
			reason: "The provider's own machine is not asked.",
			client: newClient(t, Options{}), url: s.URL + "/good",
			want: `checks may not ask the host "127.0.0.1": it is a loopback address, which is the provider's own machine`,
		},
		"ByName": {
			reason: "A name that resolves to the loopback address is refused.",
			client: newClient(t, Options{}), url: strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/good",
			want: `checks may not ask the host "localhost": it resolves to a loopback address, which is the provider's own machine`,
		},
		"ByNumber": {
			reason: "Metadata is not asked, also where loopback is.",
			url:    "http://169.254.169.254/latest",
			want:   `checks may not ask the host "169.254.169.254": it is a link-local address, where clouds serve metadata`,
		},
		"InIPv6": {
			reason: "A link-local address is refused as an IPv6 address, too.",
			url:    "http://[::ffff:169.254.169.254]/latest",
			want:   `checks may not ask the host "::ffff:169.254.169.254": it is a link-local address, where clouds serve metadata`,
		},
		"BadBundle": {
			reason: "A bundle without certificates trusts no server.",
			url:    s.URL + "/good", with: Credentials{CABundle: []byte("x")}, want: ProblemUntrusted,
		},
		"LargeBundle": {
			reason: "A set of certificates that takes more memory than those of all public authorities is refused.",
			url:    s.URL + "/good", with: Credentials{CABundle: make([]byte, maxBundleBytes+1)}, want: ProblemBundle,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			client := c
			if tc.client != nil {
				client = tc.client
			}
			if diff := cmp.Diff(tc.want, do(t, client, tc.url, tc.with)); diff != "" {
				t.Errorf("%s\nDo(%s): -want, +got:\n%.300s", tc.reason, tc.url, diff)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	c := newClient(t, Options{Loopback: true})
	if got := do(t, c, s.URL, Credentials{}); got != ProblemUntrusted {
		t.Errorf("a certificate of an unknown authority: %s", got)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if got := do(t, c, s.URL, Credentials{CABundle: bundle}); got != "200 " {
		t.Errorf("a certificate that is trusted: %s", got)
	}
}

func TestSlow(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer s.Close()
	defer close(stop)
	u, _ := url.Parse(s.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := newClient(t, Options{Loopback: true}).Do(ctx, Request{URL: u}); err == nil || err.Error() != ProblemSlow {
		t.Errorf("Do(...): want %q, got %v", ProblemSlow, err)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	k := Credentials{Password: "hunter2", Token: "hunter2"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(format, k); strings.Contains(text, "hunter2") {
			t.Errorf("%s shows %s", format, text)
		}
	}
	if k.Digest() == (Credentials{Username: "hunter2", Token: "hunter2"}).Digest() {
		t.Error("a name and a password have different digests")
	}
}

func TestIsOutage(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Silent":    {reason: "A server that does not answer is unavailable.", err: Error(ProblemSilent), want: true},
		"Slow":      {reason: "A server that takes too long is unavailable.", err: Error(ProblemSlow), want: true},
		"Untrusted": {reason: "A server that may be another server is unavailable.", err: Error(ProblemUntrusted), want: true},
		"Redirect":  {reason: "A server that sends us elsewhere, such as to sign in, is unavailable.", err: Error(ProblemRedirect), want: true},
		"Large":     {reason: "An answer that is too large is not an outage.", err: Error(ProblemLarge)},
		"Refused":   {reason: "A server that the provider may not ask is unavailable.", err: refusedError("", "localhost", &address.RefusedError{}), want: true},
		"Busy":      {reason: "A server that was not asked in time is unavailable.", err: ErrBusy, want: true},
		"None":      {reason: "A nil error is not an outage."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsOutage(tc.err); got != tc.want {
				t.Errorf("%s\nIsOutage(%v): want %t, got %t", tc.reason, tc.err, tc.want, got)
			}
		})
	}
}

// TestUnreadBytes asks a server for an answer that is too large, over HTTP/2. The provider holds the bytes that the server sends beyond the bound
// unread.
func TestUnreadBytes(t *testing.T) {
	sent, ended := &atomic.Int64{}, make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for range 1024 {
			n, err := w.Write(make([]byte, 16<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if diff := cmp.Diff(Error(ProblemLarge).Error(), do(t, newClient(t, Options{Loopback: true}), s.URL, Credentials{CABundle: ca})); diff != "" {
		t.Errorf("An answer that is too large is refused.\nDo(...): -want, +got:\n%s", diff)
	}
	<-ended
	const limit = MaxBytes + 2*streamWindow + 128<<10
	if got := sent.Load(); got > limit {
		t.Errorf("A server sends little beyond the bound.\nsent: want at most %d bytes, got %d", limit, got)
	}
}
