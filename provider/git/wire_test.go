package git

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

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

const canary = "canary-7f3a/+%"

// leaks fails the test if the secret is in the error or anything it wraps.
func leaks(t *testing.T, err error) {
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

func TestAuth(t *testing.T) {
	cases := map[string]struct {
		reason string
		auth   transport.Auth
		want   failure.Class
	}{
		"Basic":         {reason: "The password is right", auth: transport.Basic{Username: "user", Password: canary}},
		"Bearer":        {reason: "The token is right", auth: transport.Bearer{Token: canary}},
		"Anonymous":     {reason: "Nobody gets in without", want: failure.ClassAuth},
		"WrongPassword": {reason: "The password is wrong", auth: transport.Basic{Username: "user", Password: canary + "x"}, want: failure.ClassAuth},
		"WrongToken":    {reason: "The token is wrong", auth: transport.Bearer{Token: canary + "x"}, want: failure.ClassAuth},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"a": "b"}, gitserver.WithBasicAuth("user", canary), gitserver.WithBearerToken(canary))
			c := client(t, s, func(r *Remote) { r.Auth = tc.auth })
			snapshot, err := c.Look(context.Background(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			leaks(t, err)
			if err == nil {
				push(t, c, plan(t, snapshot, delivery(1)))
			}
			if text := fmt.Sprintf("%v %+v %#v", c.remote, c.remote, c.remote); strings.Contains(text, canary) {
				t.Errorf("\nA remote that is printed shows no credential\n%s", text)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		read   failure.Class
		push   failure.Class
	}{
		"NotFound":    {reason: "404", status: http.StatusNotFound, read: failure.ClassNotFound, push: failure.ClassNotFound},
		"Gone":        {reason: "410", status: http.StatusGone, read: failure.ClassNotFound, push: failure.ClassNotFound},
		"Login":       {reason: "401", status: http.StatusUnauthorized, read: failure.ClassAuth, push: failure.ClassAuth},
		"Forbidden":   {reason: "403: who may read may be forbidden to write", status: http.StatusForbidden, read: failure.ClassAuth, push: failure.ClassAuth},
		"TooLarge":    {reason: "413", status: http.StatusRequestEntityTooLarge, read: failure.ClassTooLarge, push: failure.ClassTooLarge},
		"TooMany":     {reason: "429", status: http.StatusTooManyRequests, read: failure.ClassTransient, push: failure.ClassTransient},
		"Internal":    {reason: "500", status: http.StatusInternalServerError, read: failure.ClassTransient, push: failure.ClassTransient},
		"Unavailable": {reason: "503", status: http.StatusServiceUnavailable, read: failure.ClassTransient, push: failure.ClassTransient},
		"Teapot":      {reason: "418", status: http.StatusTeapot, read: failure.ClassUnknown, push: failure.ClassUnknown},
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
	c := client(t, s, func(r *Remote) { r.CABundle = s.CA() })
	push(t, c, plan(t, look(t, c), delivery(1)))

	cases := map[string]struct {
		reason string
		change func(r *Remote)
	}{
		"UnknownAuthority": {reason: "The system does not know the CA", change: func(_ *Remote) {}},
		"OtherHost": {reason: "The certificate is for another name", change: func(r *Remote) {
			r.CABundle = s.CA()
			r.URL = strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
		}},
		"PlainAsTLS": {reason: "The server does not speak TLS", change: func(r *Remote) {
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

	r := Remote{URL: s.URL(repo), Branch: "main", StateRef: stateRef, CABundle: []byte("none")}
	if _, err := NewClient(r); err == nil {
		t.Error("\nA bundle without certificates is a mistake\nNewClient(): no error")
	}
}

// answer serves every request with a function.
func answer(t *testing.T, fn http.HandlerFunc) *Client {
	t.Helper()
	h := httptest.NewUnstartedServer(fn)
	h.Config.ErrorLog = nil
	h.Start()
	t.Cleanup(h.Close)
	return at(t, h.URL)
}

func at(t *testing.T, url string) *Client {
	t.Helper()
	c, err := NewClient(Remote{URL: url + "/" + repo, Branch: "main", StateRef: stateRef, Auth: transport.Basic{Username: "user", Password: canary}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRedirectToAnotherHost(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { reached.Add(1) }))
	defer other.Close()
	cases := map[string]struct {
		reason string
		to     string
	}{
		"Port": {reason: "Another port is another server", to: other.URL},
		"Name": {reason: "Another name is another server", to: strings.Replace(other.URL, "127.0.0.1", "localhost", 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := answer(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, tc.to+r.URL.String(), http.StatusFound)
			})
			_, err := c.Look(context.Background(), nil)
			if diff := cmp.Diff(failure.ClassTrust, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			leaks(t, err)
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
	c, err := NewClient(Remote{URL: proxy.URL + "/old/" + repo + ".git", Branch: "main", StateRef: stateRef})
	if err != nil {
		t.Fatal(err)
	}
	push(t, c, plan(t, look(t, c), delivery(1)))
}

func forward(t *testing.T, w http.ResponseWriter, r *http.Request, to string) {
	t.Helper()
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.String(), r.Body)
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
		"EchoesLogin":     {reason: "The header comes back with a 401", serve: func(w http.ResponseWriter, r *http.Request) { echo(w, r, 401) }, want: failure.ClassAuth},
		"EchoesForbidden": {reason: "The header comes back with a 403", serve: func(w http.ResponseWriter, r *http.Request) { echo(w, r, 403) }, want: failure.ClassAuth},
		"EchoesRefs":      {reason: "The header comes back as refs", serve: func(w http.ResponseWriter, r *http.Request) { echo(w, r, 200) }, want: failure.ClassTransient},
		"EchoesPacket": {reason: "The header comes back in a packet", serve: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "%04xERR %s", len(canary)+8, canary)
		}, want: failure.ClassUnknown},
		"Nothing": {reason: "An empty answer", serve: func(_ http.ResponseWriter, _ *http.Request) {}, want: failure.ClassUnknown},
		"Endless": {reason: "Refs without end", serve: func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; ; i++ {
				line := fmt.Sprintf("%040x refs/heads/%d\x00a\n", i+1, i)
				if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
					return
				}
			}
		}, want: failure.ClassTooLarge},
		"Hangs": {reason: "Headers and then nothing", serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, want: failure.ClassTransient, hangs: true},
		"HangsBefore": {reason: "Not even headers", serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: failure.ClassTransient, hangs: true},
		"Drops":       {reason: "The connection ends", serve: func(_ http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, want: failure.ClassTransient},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := limited(t, answer(t, tc.serve).Remote(), transport.Limits{Bytes: 1 << 20})
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
			leaks(t, err)
		})
	}
}

func TestDeadlineIsSeen(t *testing.T) {
	c := answer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Look(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("\nA caller can tell its own deadline\nLook(): %#v", err)
	}
}

func TestUnreachable(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	_, err := at(t, h.URL).Look(context.Background(), nil)
	if diff := cmp.Diff("cannot read the repository: connection refused", err.Error()); diff != "" || !failure.IsTransient(err) {
		t.Errorf("\nThe message is stable\nLook(): -want, +got:\n%s", diff)
	}
}

func TestTooLargeInMemory(t *testing.T) {
	s := serve(t, map[string]string{"a": strings.Repeat("0", 1<<20)})
	run(t, s, "config", "uploadpack.allowFilter", "false")
	c := client(t, s)
	c.maxInflated = 1 << 19
	_, err := c.Look(context.Background(), nil)
	if diff := cmp.Diff(failure.ClassTooLarge, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nA small pack may hold a large file\nLook(): -want, +got:\n%s\n%v", diff, err)
	}
	c.maxInflated = 1 << 21
	look(t, c)
}
