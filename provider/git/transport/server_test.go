package transport_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A connectProxy is a proxy that asks for credentials.
type connectProxy struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func newConnectProxy(t *testing.T, user, password string) *connectProxy {
	t.Helper()
	p := &connectProxy{}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		p.mu.Unlock()
		if r.Header.Get("Proxy-Authorization") != want {
			w.Header().Set("X-Echo", r.Header.Get("Proxy-Authorization"))
			http.Error(w, r.Header.Get("Proxy-Authorization"), http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			forward(t, w, r, "")
			return
		}
		tunnel(w, r.Host)
	}))
	t.Cleanup(p.Close)
	return p
}

func tunnel(w http.ResponseWriter, target string) {
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", target)
	if err != nil {
		http.Error(w, "", http.StatusBadGateway)
		return
	}
	defer out.Close()
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	in, buffered, err := h.Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
	go func(r *bufio.ReadWriter) { _, _ = io.Copy(out, r) }(buffered)
	_, _ = io.Copy(in, out)
}

func TestProxy(t *testing.T) {
	p := newConnectProxy(t, "me", canary)
	s := serve(t, map[string]string{"a": "b"}, gitserver.WithTLS())
	plain := serve(t, map[string]string{"a": "b"})
	cases := map[string]struct {
		reason string
		server *gitserver.Server
		proxy  transport.Proxy
		want   failure.Class
		asked  string
	}{
		"Connect": {
			reason: "An https repository is reached through a tunnel of the proxy.",
			server: s, proxy: transport.Proxy{URL: p.URL, Username: "me", Password: canary}, asked: "CONNECT ",
		},
		"Plain": {
			reason: "An http repository is reached through the proxy without a tunnel.",
			server: plain, proxy: transport.Proxy{URL: p.URL, Username: "me", Password: canary}, asked: "GET ",
		},
		"Anonymous": {
			reason: "A proxy that wants credentials refuses a remote without them.",
			server: s, proxy: transport.Proxy{URL: p.URL}, want: failure.ClassAuth, asked: "CONNECT ",
		},
		"WrongPassword": {
			reason: "A proxy that echoes its request does not put credentials into the error.", server: s,
			proxy: transport.Proxy{URL: p.URL, Username: "me", Password: canary + "x"}, want: failure.ClassAuth, asked: "CONNECT ",
		},
		"WrongPasswordPlain": {
			reason: "A proxy that echoes its request without a tunnel does not put credentials into the error.", server: plain,
			proxy: transport.Proxy{URL: p.URL, Username: "me", Password: canary + "x"}, want: failure.ClassAuth, asked: "GET ",
		},
		"Gone": {
			reason: "A proxy that does not answer is a transient failure.",
			server: s, proxy: transport.Proxy{URL: "http://127.0.0.1:1", Username: "me", Password: canary}, want: failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p.mu.Lock()
			p.asked = nil
			p.mu.Unlock()
			c := client(t, tc.server, func(r *git.Remote) { r.Proxy, r.CABundle = &tc.proxy, tc.server.CA() })
			snapshot, err := c.Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			checkNoCredential(t, err)
			if err == nil {
				push(t, c, plan(t, snapshot, delivery(1)))
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if tc.asked != "" && (len(p.asked) == 0 || !strings.HasPrefix(p.asked[0], tc.asked)) {
				t.Errorf("\n%s\nthe proxy was asked: want %q first, got %q", tc.reason, tc.asked, p.asked)
			}
		})
	}
}

func TestProxyIsRefused(t *testing.T) {
	cases := map[string]string{
		"Credentials": "http://u:" + url.QueryEscape(canary) + "@proxy:3128",
		"Scheme":      "socks5://proxy:1080",
		"Path":        "http://proxy/x",
		"Query":       "http://proxy?x",
		"NoHost":      "http://",
		"Malformed":   "http://%zz",
	}
	for name, u := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := git.NewClient(git.Remote{URL: "https://h/r", Branch: "main", StateRef: stateRef, Proxy: &transport.Proxy{URL: u}}, budget.New())
			if err == nil {
				t.Fatalf("NewClient(...): no error for %q", u)
			}
			checkNoCredential(t, err)
		})
	}
}

// An authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{key: key, cert: parsed}
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// issue a certificate that ends at some time.
func (a authority) issue(t *testing.T, end time.Time) (chain, key []byte) {
	t.Helper()
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "someone"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: end.Add(-24 * time.Hour), NotAfter: end, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, serverKey.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// serveTLSFront is a server of TLS before a Git server, with a certificate of its own.
func serveTLSFront(t *testing.T, s *gitserver.Server, change func(*tls.Config)) string {
	t.Helper()
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forward(t, w, r, strings.TrimSuffix(s.URL(repo), "/"+repo+".git"))
	}))
	h.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	change(h.TLS)
	h.StartTLS()
	t.Cleanup(h.Close)
	return h.URL + "/" + repo + ".git"
}

func TestCertificates(t *testing.T) {
	server, clients := newAuthority(t), newAuthority(t)
	s := serve(t, map[string]string{"a": "b"})
	pair := func(end time.Time) []tls.Certificate {
		p, err := tls.X509KeyPair(server.issue(t, end))
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{p}
	}
	valid := time.Now().Add(time.Hour)
	asking := serveTLSFront(t, s, func(c *tls.Config) {
		c.Certificates, c.ClientAuth, c.ClientCAs = pair(valid), tls.RequireAndVerifyClientCert, x509.NewCertPool()
		c.ClientCAs.AddCert(clients.cert)
	})
	expired := serveTLSFront(t, s, func(c *tls.Config) { c.Certificates = pair(time.Now().Add(-time.Hour)) })
	chain, key := clients.issue(t, valid)
	foreignChain, foreignKey := newAuthority(t).issue(t, valid)
	cases := map[string]struct {
		reason string
		url    string
		cert   *transport.Certificate
		want   failure.Class
	}{
		"Shown": {
			reason: "A client certificate that the server trusts is accepted.",
			url:    asking, cert: &transport.Certificate{Chain: chain, Key: transport.Secret(key)},
		},
		"None": {reason: "A server that wants a client certificate refuses a remote without one.", url: asking, want: failure.ClassAuth},
		"Foreign": {
			reason: "A client certificate that the server does not trust is refused.",
			url:    asking, cert: &transport.Certificate{Chain: foreignChain, Key: transport.Secret(foreignKey)}, want: failure.ClassAuth,
		},
		"Expired": {reason: "A server whose certificate has expired is not trusted.", url: expired, want: failure.ClassTrust},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := client(t, s, func(r *git.Remote) { r.URL, r.CABundle, r.Certificate = tc.url, server.pem(), tc.cert })
			snapshot, err := c.Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err == nil {
				push(t, c, plan(t, snapshot, delivery(1)))
			}
		})
	}
	bad := git.Remote{URL: asking, Branch: "main", StateRef: stateRef, Certificate: &transport.Certificate{Chain: chain, Key: transport.Secret(foreignKey)}}
	if _, err := git.NewClient(bad, budget.New()); err == nil {
		t.Error("\nA certificate with the key of another certificate is refused\nNewClient(...): no error")
	}
}

// TestServerWords shows the words of an answer that is an error, and not a page for browsers.
func TestServerWords(t *testing.T) {
	const (
		bad       = "the server answered Bad Request"
		forbidden = "these credentials may not read it"
	)
	cases := map[string]struct {
		reason             string
		status             int
		body, detail, want string
	}{
		"Text": {
			reason: "The words of the server reach the user.",
			status: 400, detail: bad, body: "TF401041: Clients must support multi-ack.\r\n", want: "TF401041: Clients must support multi-ack.",
		},
		"Status": {reason: "A text that repeats the status is left out.", status: 400, detail: bad, body: "400 Bad Request\n"},
		"Ending": {
			reason: "A text that ends with the name of the status says more.",
			status: 400, detail: bad, body: "rule 7: Bad Request", want: "rule 7: Bad Request",
		},
		"Page": {
			reason: "A page for browsers is left out.",
			status: 400, detail: bad, body: "\n<!DOCTYPE html><html><body>Bad request</body></html>",
		},
		"Lines": {reason: "Several lines become one.", status: 400, detail: bad, body: "a\n\n  b\x1b[2J\n", want: "a; b [2J"},
		"Long": {
			reason: "A text that is cut ends with a whole word.",
			status: 400, detail: bad, body: "a " + strings.Repeat("b", 2000), want: "a",
		},
		"Word": {reason: "A word that is cut is left out.", status: 400, detail: bad, body: strings.Repeat("b", 2000)},
		"Secret": {
			reason: "A URL in the words loses its credentials.",
			status: 400, detail: bad, body: "see https://u:p@git.example.org/x?token=t", want: "see https://[redacted]@git.example.org/x",
		},
		"Unauthorized": {
			reason: "Words about wrong credentials reach the user.",
			status: 401, detail: "the credentials were not accepted", body: "your token: abc has expired",
			want: "your token: [redacted] has expired",
		},
		"Forbidden": {
			reason: "Words about a missing permission reach the user.",
			status: 403, detail: forbidden, body: "remote: sign the agreement first\n", want: "sign the agreement first",
		},
		"NotFound": {
			reason: "Words about a missing repository reach the user.",
			status: 404, detail: "it does not exist, or these credentials may not see it", body: "it moved: see /new",
			want: "it moved: see /new",
		},
		"NameAlone": {reason: "The name of the status says no more than the status.", status: 403, detail: forbidden, body: "Forbidden\n"},
		"NoBody":    {reason: "An answer may have no words.", status: 403, detail: forbidden},
		"Odd": {
			reason: "A status without a name is a number, and its words reach the user.",
			status: 520, detail: "the server answered status 520", body: "origin is down", want: "origin is down",
		},
		"OddAlone": {
			reason: "The number of a status says no more than the status.",
			status: 520, detail: "the server answered status 520", body: "520\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(h.Close)
			c, err := git.NewClient(git.Remote{URL: h.URL + "/shop.git", Branch: "main", StateRef: "refs/intentplane/state"}, budget.New())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Look(t.Context(), nil)
			e := &failure.Error{}
			if !errors.As(err, &e) || e.Detail != "cannot read the repository: "+tc.detail {
				t.Fatalf("\n%s\nLook(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, e.Remote); diff != "" {
				t.Errorf("\n%s\nwords: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
