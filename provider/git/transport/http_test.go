package transport

import (
	"crypto/tls"
	"testing"
	"time"
)

func TestEnvironmentChoosesNoProxy(t *testing.T) {
	// net/http reads the environment once in a process, and never proxies loopback, so an answer of a server would prove nothing.
	if connTo(t, Server{URL: "http://git.example.org/a"}).http.Proxy != nil {
		t.Error("\nOnly a configuration may choose a proxy\nProxy: want none")
	}
}

func TestTLSVersion(t *testing.T) {
	w, err := newHTTPTransport(Server{}, (&route{}).newGuardedDialer(nil))
	if err != nil {
		t.Fatal(err)
	}
	if w.TLSClientConfig.MinVersion < tls.VersionTLS12 || w.TLSClientConfig.InsecureSkipVerify {
		t.Error("\nOld TLS is not spoken, certificates are checked")
	}
}

func connTo(t *testing.T, s Server) *Conn {
	t.Helper()
	c, err := New(s, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
