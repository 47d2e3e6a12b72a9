package transport

import (
	"bytes"
	"crypto/tls"
	"strings"
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

// TestLargeCertificate has a certificate and a key of a client that take long to read.
func TestLargeCertificate(t *testing.T) {
	cases := map[string]struct {
		reason string
		c      Certificate
	}{
		"Chain": {reason: "Certificates have a limit.", c: Certificate{Chain: bytes.Repeat([]byte(" "), maxKeyBytes+1)}},
		"Key":   {reason: "A key has a limit.", c: Certificate{Key: Secret(strings.Repeat(" ", maxKeyBytes+1))}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := tc.c.readKeyPair(); err == nil || !strings.Contains(err.Error(), "more than 64 KiB") {
				t.Errorf("\n%s\nreadKeyPair(): want an error with the limit, got %v", tc.reason, err)
			}
		})
	}
}

func TestCheckRSALength(t *testing.T) {
	for bits, want := range map[int]bool{minRSABits - 1: false, minRSABits: true, maxRSABits: true, maxRSABits + 1: false} {
		if err := checkRSALength(bits); (err == nil) != want {
			t.Errorf("An RSA key has a minimum and a maximum length: checkRSALength(%d): %v", bits, err)
		}
	}
}
