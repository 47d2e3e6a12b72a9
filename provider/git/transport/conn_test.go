package transport_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
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

const canary = "canary-7f3a/+%"

// checkNoCredential fails the test if the secret is in the error or anything it wraps.
func checkNoCredential(t *testing.T, err error) {
	t.Helper()
	pair := base64.StdEncoding.EncodeToString([]byte("user:" + canary))
	for ; err != nil; err = errors.Unwrap(err) {
		for _, s := range []string{canary, pair, url.QueryEscape(canary), url.PathEscape(canary)} {
			if text := fmt.Sprintf("%v %+v %#v %q", err, err, err, err); strings.Contains(text, s) {
				t.Errorf("\nNo error holds a credential\nError(): %s", text)
			}
		}
	}
}

func TestHTTPStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		read   failure.Class
		push   failure.Class
	}{
		"NotFound": {
			reason: "Status 404 is a repository that does not exist.",
			status: http.StatusNotFound, read: failure.ClassNotFound, push: failure.ClassNotFound,
		},
		"Gone":  {reason: "Status 410 is a repository that does not exist.", status: http.StatusGone, read: failure.ClassNotFound, push: failure.ClassNotFound},
		"Login": {reason: "Status 401 is a refused credential.", status: http.StatusUnauthorized, read: failure.ClassAuth, push: failure.ClassAuth},
		"Forbidden": {
			reason: "Status 403 is a refused credential, also for a push alone.",
			status: http.StatusForbidden, read: failure.ClassAuth, push: failure.ClassAuth,
		},
		"TooLarge": {
			reason: "Status 413 is a push that is too large.",
			status: http.StatusRequestEntityTooLarge, read: failure.ClassTooLarge, push: failure.ClassTooLarge,
		},
		"TooMany": {reason: "Status 429 is a transient failure.", status: http.StatusTooManyRequests, read: failure.ClassTransient, push: failure.ClassTransient},
		"Internal": {
			reason: "Status 500 is a transient failure.",
			status: http.StatusInternalServerError, read: failure.ClassTransient, push: failure.ClassTransient,
		},
		"Unavailable": {
			reason: "Status 503 is a transient failure.",
			status: http.StatusServiceUnavailable, read: failure.ClassTransient, push: failure.ClassTransient,
		},
		"Teapot": {reason: "Status 418 has an unknown class.", status: http.StatusTeapot, read: failure.ClassUnknown, push: failure.ClassUnknown},
	}
	s := serve(t, map[string]string{"a": "b"})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := client(t, s)
			snapshot := look(t, c)
			s.FailPushes(repo, tc.status)
			_, err := c.Push(context.Background(), plan(t, snapshot, delivery(1)))
			if diff := cmp.Diff(tc.push, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nPush(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			s.FailPushes(repo, 0)
			s.Fail(repo, tc.status)
			_, err = c.Look(context.Background(), snapshot)
			if diff := cmp.Diff(tc.read, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			s.Fail(repo, 0)
		})
	}
}

func TestTLS(t *testing.T) {
	s := serve(t, map[string]string{"a": "b"}, gitserver.WithTLS())
	c := client(t, s, func(r *git.Remote) { r.CABundle = s.CA() })
	push(t, c, plan(t, look(t, c), delivery(1)))

	cases := map[string]struct {
		reason string
		change func(r *git.Remote)
	}{
		"UnknownAuthority": {reason: "A certificate of an unknown authority is not trusted.", change: func(_ *git.Remote) {}},
		"OtherHost": {reason: "A certificate for another host is not trusted.", change: func(r *git.Remote) {
			r.CABundle = s.CA()
			r.URL = strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
		}},
		"PlainAsTLS": {reason: "A server that does not speak TLS is not trusted.", change: func(r *git.Remote) {
			r.URL = strings.Replace(serve(t, nil).URL(repo), "http:", "https:", 1)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, s, tc.change).Look(context.Background(), nil)
			if diff := cmp.Diff(failure.ClassTrust, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}

	r := git.Remote{URL: s.URL(repo), Branch: "main", StateRef: stateRef, CABundle: []byte("none")}
	if _, err := git.NewClient(r, budget.New()); err == nil {
		t.Error("\nA bundle without certificates is a mistake\nNewClient(): no error")
	}
}

// clientOfHandler serves every request with a function.
func clientOfHandler(t *testing.T, fn http.HandlerFunc) *git.Client {
	t.Helper()
	h := httptest.NewUnstartedServer(fn)
	h.Config.ErrorLog = nil
	h.Start()
	t.Cleanup(h.Close)
	return clientAt(t, h.URL)
}

func clientAt(t *testing.T, url string) *git.Client {
	t.Helper()
	c, err := git.NewClient(git.Remote{URL: url + "/" + repo, Branch: "main", StateRef: stateRef, Auth: transport.Basic{Username: "user", Password: canary}}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRedirectToAnotherHost(t *testing.T) {
	var reached atomic.Int32
	otherHost := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { reached.Add(1) }))
	defer otherHost.Close()
	cases := map[string]struct {
		reason string
		to     string
	}{
		"Port": {reason: "A redirect to another port is not followed.", to: otherHost.URL},
		"Name": {reason: "A redirect to another host is not followed.", to: strings.Replace(otherHost.URL, "127.0.0.1", "localhost", 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := clientOfHandler(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, tc.to+r.URL.String(), http.StatusFound)
			})
			_, err := c.Look(context.Background(), nil)
			if diff := cmp.Diff(failure.ClassTrust, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			checkNoCredential(t, err)
		})
	}
	if diff := cmp.Diff(int32(0), reached.Load()); diff != "" {
		t.Errorf("\nThe other host is not asked, with credentials or without\n-want, +got:\n%s", diff)
	}
}

func TestRedirectOnTheSameHost(t *testing.T) {
	s := serve(t, map[string]string{"a": "b"})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/old/") {
			http.Redirect(w, r, strings.TrimPrefix(r.URL.String(), "/old"), http.StatusMovedPermanently)
			return
		}
		forward(t, w, r, strings.TrimSuffix(s.URL(repo), "/"+repo+".git"))
	}))
	defer proxy.Close()
	c, err := git.NewClient(git.Remote{URL: proxy.URL + "/old/" + repo + ".git", Branch: "main", StateRef: stateRef}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	push(t, c, plan(t, look(t, c), delivery(1)))
}

func forward(t *testing.T, w http.ResponseWriter, r *http.Request, target string) {
	t.Helper()
	req, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.String(), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header, req.ContentLength = r.Header, r.ContentLength
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(w, res.Body); err != nil {
		t.Error(err)
	}
}

func TestHostileServer(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request, status int) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+canary)
	}
	cases := map[string]struct {
		reason string
		serve  http.HandlerFunc
		want   failure.Class
		hangs  bool
	}{
		"EchoesLogin": {
			reason: "A server that echoes the credentials with a 401 does not get them into the error.",
			serve:  func(w http.ResponseWriter, r *http.Request) { echo(w, r, 401) }, want: failure.ClassAuth,
		},
		"EchoesForbidden": {
			reason: "A server that echoes the credentials with a 403 does not get them into the error.",
			serve:  func(w http.ResponseWriter, r *http.Request) { echo(w, r, 403) }, want: failure.ClassAuth,
		},
		"EchoesRefs": {
			reason: "A server that echoes the credentials as refs does not get them into the error.",
			serve:  func(w http.ResponseWriter, r *http.Request) { echo(w, r, 200) }, want: failure.ClassTransient,
		},
		"EchoesPacket": {reason: "A server that echoes the credentials in a packet does not get them into the error.", serve: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "%04xERR %s", len(canary)+8, canary)
		}, want: failure.ClassUnknown},
		"Nothing": {reason: "An empty answer is a failure.", serve: func(_ http.ResponseWriter, _ *http.Request) {}, want: failure.ClassUnknown},
		"Endless": {reason: "A list of refs without end is too large.", serve: func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; ; i++ {
				line := fmt.Sprintf("%040x refs/heads/%d\x00a\n", i+1, i)
				if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
					return
				}
			}
		}, want: failure.ClassTooLarge},
		"Hangs": {reason: "A server that hangs after its headers ends with the context.", serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, want: failure.ClassTransient, hangs: true},
		"HangsBefore": {
			reason: "A server that hangs before its headers ends with the context.",
			serve:  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: failure.ClassTransient, hangs: true,
		},
		"Drops": {
			reason: "A connection that the server drops is a transient failure.",
			serve:  func(_ http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, want: failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := limited(t, clientOfHandler(t, tc.serve).Remote(), transport.Limits{Bytes: 1 << 20})
			patience := 5 * time.Minute
			if tc.hangs {
				patience = time.Second
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_, err := c.Look(ctx, nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			checkNoCredential(t, err)
		})
	}
}

func TestDeadlineIsSeen(t *testing.T) {
	c := clientOfHandler(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Look(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("\nA caller can tell its own deadline\nLook(): %#v", err)
	}
}

func TestUnreachableServer(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	_, err := clientAt(t, h.URL).Look(context.Background(), nil)
	if diff := cmp.Diff("cannot read the repository: connection refused", err.Error()); diff != "" || !failure.IsTransient(err) {
		t.Errorf("\nThe message is stable\nLook(): -want, +got:\n%s", diff)
	}
}

// The tests of this package reach servers as the provider does: with the client of package git.
const (
	repo     = "team/repo"
	stateRef = "refs/intentplane/demo/state"
)

// serve starts a real Git server with one repository.
func serve(tb testing.TB, seed map[string]string, o ...gitserver.Option) *gitserver.Server {
	tb.Helper()
	s, err := gitserver.New(context.Background(), tb.TempDir(), o...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	if err := s.CreateRepo(context.Background(), repo, seed); err != nil {
		tb.Fatal(err)
	}
	return s
}

func client(tb testing.TB, s *gitserver.Server, change ...func(r *git.Remote)) *git.Client {
	tb.Helper()
	r := git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: stateRef}
	for _, fn := range change {
		fn(&r)
	}
	c, err := git.NewClient(r, budget.New())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func look(tb testing.TB, c *git.Client) *git.Snapshot {
	tb.Helper()
	s, err := c.Look(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func plan(tb testing.TB, s *git.Snapshot, c git.Change) *git.Proposal {
	tb.Helper()
	p, err := git.Plan(tb.Context(), s, c)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func push(tb testing.TB, c *git.Client, p *git.Proposal) *git.Pushed {
	tb.Helper()
	done, err := c.Push(context.Background(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

func run(tb testing.TB, s *gitserver.Server, args ...string) string {
	tb.Helper()
	out, err := s.Git(context.Background(), repo, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// delivery writes a revision to a directory and to the state.
func delivery(n int) git.Change {
	return git.Change{
		Put: map[string]map[string][]byte{
			"sites/a/ns/web": {"deployment.yaml": fmt.Appendf(nil, "replicas: %d\n", n), ".intentplane": []byte("claim: ns/web\n")},
		},
		State:   map[string][]byte{"claims/ns/web": fmt.Appendf(nil, "revision: %d\n", n)},
		Message: "Deliver web\n", Author: git.Author{Name: "Intentplane", Email: "intentplane@example.org"},
		When: time.Date(2026, 11, 21, 12, 0, n, 0, time.UTC),
	}
}
