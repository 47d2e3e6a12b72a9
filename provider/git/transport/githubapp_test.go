package transport_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A forge is GitHub's API: it gives one token, for an hour, to a client with the key of the App.
type forge struct {
	*httptest.Server

	key   *rsa.PrivateKey
	clock func() time.Time

	mu     sync.Mutex
	token  string
	status int
	given  int
	paths  []string
}

func newForge(t *testing.T, clock func() time.Time) *forge {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	f := &forge{key: key, clock: clock, token: "ghs_canary1"}
	f.Server = httptest.NewTLSServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *forge) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths = append(f.paths, r.URL.Path)
	raw := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	claims := jwt.RegisteredClaims{}
	_, err := jwt.ParseWithClaims(raw, &claims, func(*jwt.Token) (any, error) { return f.key.Public(), nil }, jwt.WithTimeFunc(f.clock), jwt.WithIssuedAt())
	switch {
	case f.status != 0:
		w.Header().Set("Location", f.URL+"/elsewhere")
		w.WriteHeader(f.status)
	case r.Method != http.MethodPost || r.URL.Path != "/api/v3/app/installations/42/access_tokens":
		w.WriteHeader(http.StatusNotFound)
	case err != nil || claims.Issuer != "7" || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > 10*time.Minute:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, raw)
	default:
		f.given++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token": %q, "expires_at": %q}`, f.token, f.clock().Add(time.Hour).Format(time.RFC3339))
	}
}

// tokens that were given.
func (f *forge) tokens() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.given
}

// set the token of the next answers, or their status.
func (f *forge) set(token string, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token, f.status = token, status
}

func (f *forge) auth() transport.GitHubApp {
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(f.key)}
	return transport.GitHubApp{AppID: "7", InstallationID: "42", PrivateKey: transport.Secret(pem.EncodeToMemory(block)), BaseURL: f.URL + "/api/v3"}
}

func TestGitHubApp(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	clock := func() time.Time { return now }
	f := newForge(t, clock)
	s := serve(t, map[string]string{"a": "b"}, gitserver.WithTLS(), gitserver.WithBasicAuth("x-access-token", "ghs_canary1"))
	c, err := git.NewClient(git.Remote{URL: s.URL(repo), Branch: "main", StateRef: stateRef, Auth: f.auth(), CABundle: s.CA()}, budget.New(), git.WithClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	push(t, c, plan(t, look(t, c), delivery(1)))
	if diff := cmp.Diff(1, f.tokens()); diff != "" {
		t.Errorf("tokens that were given for two operations: -want, +got:\n%s", diff)
	}
	now = now.Add(54 * time.Minute)
	look(t, c)
	if diff := cmp.Diff(1, f.tokens()); diff != "" {
		t.Errorf("tokens before the end: -want, +got:\n%s", diff)
	}
	now = now.Add(2 * time.Minute)
	look(t, c)
	if diff := cmp.Diff(2, f.tokens()); diff != "" {
		t.Errorf("tokens shortly before the end: -want, +got:\n%s", diff)
	}

	f.set("ghs_canary2", 0)
	now = now.Add(time.Hour)
	for range 2 { // A token that is not accepted is not kept.
		_, err = c.Look(t.Context(), nil)
		if diff := cmp.Diff(failure.ClassAuth, failure.ClassOf(err)); diff != "" {
			t.Errorf("Look(...) with a token that the server does not know: -want, +got:\n%s\n%v", diff, err)
		}
	}
	if diff := cmp.Diff(4, f.tokens()); diff != "" {
		t.Errorf("tokens after a refusal: -want, +got:\n%s", diff)
	}
	if text := fmt.Sprintf("%v %+v %#v %v", c.Remote(), c.Remote(), c.Remote(), err); strings.Contains(text, "canary") || strings.Contains(text, "PRIVATE") {
		t.Errorf("a credential is shown: %s", text)
	}
}

func TestProvenAPIIsNotConcealed(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	clock := func() time.Time { return now }
	f := newForge(t, clock)
	s := serve(t, map[string]string{"a": "b"}, gitserver.WithTLS(), gitserver.WithBasicAuth("x-access-token", "ghs_canary1"))
	c, err := git.NewClient(git.Remote{
		URL: s.URL(repo), Branch: "main", StateRef: stateRef, Auth: f.auth(), CABundle: s.CA(), Guard: &address.Guard{Loopback: true},
	}, budget.New(), git.WithClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	f.set("", http.StatusUnauthorized)
	if _, err := c.Look(t.Context(), nil); failure.CauseOf(err) == "" {
		t.Errorf("An API that gave no token yet is concealed at a private address.\nLook(...): want a concealed cause, got %v", err)
	}
	f.set("ghs_canary1", 0)
	look(t, c)
	now = now.Add(2 * time.Hour)
	f.set("", http.StatusUnauthorized)
	if _, err := c.Look(t.Context(), nil); err == nil || failure.CauseOf(err) != "" {
		t.Errorf("An API that gave a token, at another address than the Git server, is not concealed.\nLook(...): want a cause that is shown, got %v", err)
	}
}

func TestGitHubAppIsRefused(t *testing.T) {
	f := newForge(t, time.Now)
	s := serve(t, map[string]string{"a": "b"}, gitserver.WithTLS())
	otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	foreign := transport.Secret(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(otherKey)}))
	cases := map[string]struct {
		reason string
		change func(*transport.GitHubApp)
		status int
		want   failure.Class
	}{
		"Key": {
			reason: "The key of another App is refused as a credential.",
			change: func(a *transport.GitHubApp) { a.PrivateKey = foreign }, want: failure.ClassAuth,
		},
		"Malformed": {
			reason: "A malformed private key is an invalid configuration.",
			change: func(a *transport.GitHubApp) { a.PrivateKey = "canary" }, want: failure.ClassInvalid,
		},
		"Gone": {
			reason: "An installation that does not exist is refused as a credential.",
			change: func(a *transport.GitHubApp) { a.InstallationID = "43" }, want: failure.ClassAuth,
		},
		"Redirect": {
			reason: "A redirect is not followed with the proof of the App.",
			change: func(*transport.GitHubApp) {}, status: http.StatusFound, want: failure.ClassAuth,
		},
		"Unavailable": {
			reason: "An API that is unavailable is tried again later.",
			change: func(*transport.GitHubApp) {}, status: http.StatusServiceUnavailable, want: failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := f.auth()
			tc.change(&a)
			f.set("ghs_canary1", tc.status)
			_, err := client(t, s, func(r *git.Remote) { r.Auth, r.CABundle = a, s.CA() }).Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("\n%s\nLook(...): the error shows the key: %v", tc.reason, err)
			}
		})
	}
	f.mu.Lock()
	if slices.Contains(f.paths, "/elsewhere") {
		t.Error("the proof was taken to another address")
	}
	f.mu.Unlock()
	for name, change := range map[string]func(*git.Remote, *transport.GitHubApp){
		"HTTPAPI":      func(_ *git.Remote, a *transport.GitHubApp) { a.BaseURL = "http://github.example.org/api/v3" },
		"UserAPI":      func(_ *git.Remote, a *transport.GitHubApp) { a.BaseURL = "https://u:canary@github.example.org/api/v3" },
		"Installation": func(_ *git.Remote, a *transport.GitHubApp) { a.InstallationID = "1/../../x" },
		"App":          func(_ *git.Remote, a *transport.GitHubApp) { a.AppID = "canary\n" },
		"HTTP":         func(r *git.Remote, _ *transport.GitHubApp) { r.URL = "http://github.example.org/a/b" },
		"NoKey":        func(_ *git.Remote, a *transport.GitHubApp) { a.PrivateKey = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r, a := git.Remote{URL: s.URL(repo), Branch: "main", StateRef: stateRef}, f.auth()
			change(&r, &a)
			r.Auth = a
			if _, err := git.NewClient(r, budget.New()); err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("NewClient(...): %v, want an error without a credential", err)
			}
		})
	}
}
