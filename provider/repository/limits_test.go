package repository

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

const hostile = "hostile"

// openRemote opens the remote of a configuration.
func openRemote(tb testing.TB, p *Pool, url string, change ...func(r *git.Remote)) *Repository {
	tb.Helper()
	remote := git.Remote{URL: url, Branch: gitserver.Branch, StateRef: "refs/intentplane/prod/state"}
	for _, fn := range change {
		fn(&remote)
	}
	c, err := p.NewClient(remote)
	fatal(tb, err)
	r, err := p.Open(c)
	fatal(tb, err)
	tb.Cleanup(r.closeForGood)
	return r
}

func fatal(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// ofNamespace a namespace, with credentials of its own.
func ofNamespace(namespace string, n int) func(r *git.Remote) {
	return func(r *git.Remote) {
		r.Namespace, r.Auth = namespace, transport.Basic{Username: "user", Password: fmt.Sprint("password-", n)}
	}
}

// hang lets operations begin at the host of each repository, and not end before the test does. It returns when so many are under way.
func hang(t *testing.T, limit int, repos ...*Repository) {
	t.Helper()
	free := make(chan struct{})
	t.Cleanup(func() { close(free) })
	begun := make(chan struct{}, len(repos))
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	for _, r := range repos {
		go func() {
			_ = r.host.runOperation(ctx, func(context.Context) error {
				begun <- struct{}{}
				<-free
				return nil
			})
		}()
	}
	for range limit {
		await(t, begun)
	}
}

func TestHangingReadsDelayNoOther(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	through := func(n int) func(r *git.Remote) {
		return func(r *git.Remote) { r.Proxy = &transport.Proxy{URL: fmt.Sprintf("http://127.0.0.1:%d", n+1)} }
	}
	directly := func(int) func(*git.Remote) { return func(*git.Remote) {} }
	cases := map[string]struct {
		reason string
		way    func(n int) func(r *git.Remote)
		most   int
		good   string
	}{
		"PlatformBesideProxies": {
			reason: "A tenant that names the platform's URL and a proxy of its own holds no slot of the platform.",
			way:    through, most: namespaceSlots,
		},
		"PlatformBesideServer": {
			reason: "A tenant whose operations hang at the platform's own server holds no slot of the platform.",
			way:    directly, most: namespaceSlotsAtHost,
		},
		"TenantBesideProxies": {reason: "A tenant with many proxies has no more than its share of all slots.", way: through, most: namespaceSlots, good: "team-a"},
		"TenantBesideServer":  {reason: "A tenant has no more than its share of the slots of a server.", way: directly, most: namespaceSlotsAtHost, good: "team-a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := pool(Options{})
			repos := []*Repository{}
			for n := range 100 {
				repos = append(repos, openRemote(t, p, s.URL(repo), ofNamespace(hostile, n), tc.way(n)))
			}
			hang(t, tc.most, repos...)
			good := openRemote(t, p, s.URL(repo), func(r *git.Remote) { r.Namespace = tc.good })
			if _, err := good.Look(t.Context(), web(0), time.Now()); err != nil {
				t.Errorf("%s\nLook(...): %v", tc.reason, err)
			}
			if err := deliver(good, fiveFiles(0)); err != nil {
				t.Errorf("%s\nDeliver(...): %v", tc.reason, err)
			}
		})
	}
}

func TestHangingPushGivesItsLaneBack(t *testing.T) {
	cases := map[string]struct {
		reason   string
		patience time.Duration
		good     string
	}{
		"Platform": {reason: "A tenant that pushes to the platform's branch with credentials of its own does not hold it.", patience: 5 * time.Minute},
		"Tenant":   {reason: "A push that is slower than its patience gives the lane back to another tenant.", patience: 50 * time.Millisecond, good: "team-a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			p := pool(Options{Patience: tc.patience})
			free, hold := make(chan struct{}), make(chan struct{})
			defer close(free)
			slow := openRemote(t, p, s.URL(repo), ofNamespace(hostile, 0))
			hanging := fiveFiles(1)
			hanging.Plan = func(context.Context, *git.Draft) error {
				close(hold)
				<-free
				return &failure.Error{Class: failure.ClassInvalid}
			}
			go func() { _ = slow.Deliver(context.Background(), hanging) }()
			await(t, hold)
			good := openRemote(t, p, s.URL(repo), func(r *git.Remote) { r.Namespace = tc.good })
			done := make(chan error, 1)
			go func() {
				err := deliver(good, fiveFiles(2))
				for IsPending(err) {
					err = deliver(good, fiveFiles(2))
				}
				done <- err
			}()
			if err := await(t, done); err != nil {
				t.Errorf("%s\nDeliver(...): %v", tc.reason, err)
			}
		})
	}
}

// dripping serves one byte after the other, without end.
func dripping(t *testing.T) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("0"))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

// TestHostileTenantCostsItself has a tenant with 100 configurations and 1,000 deliveries, whose proxies hang and whose servers drip, beside
// the platform and another tenant.
func TestHostileTenantCostsItself(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	p := pool(Options{Patience: time.Second})
	proxy, drip := silent(t), dripping(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for n := range 100 {
		r := openRemote(t, p, drip+"/x.git", ofNamespace(hostile, n))
		if n%2 == 0 {
			r = openRemote(t, p, s.URL(repo), ofNamespace(hostile, n), func(r *git.Remote) { r.Proxy = &transport.Proxy{URL: proxy[:len(proxy)-len("/x.git")]} })
		}
		for m := range 10 {
			d := fiveFiles(10*n + m)
			d.Object.Namespace, d.Size = hostile, 128<<10
			go func() {
				_, _ = r.Look(ctx, d.Object, time.Now())
				_ = r.Deliver(ctx, d)
			}()
		}
	}
	until(func() bool {
		p.pending.mu.Lock()
		defer p.pending.mu.Unlock()
		return p.pending.bytesOf[hostile] > maxBytesPerNamespace-256<<10
	})
	for n, ns := range []string{"", "team-a"} {
		r := openRemote(t, p, s.URL(repo), func(r *git.Remote) { r.Namespace = ns })
		d := fiveFiles(n)
		d.Size = 128 << 10
		until(func() bool {
			err := deliver(r, d)
			if err != nil && !IsPending(err) {
				t.Errorf("A hostile tenant fails no delivery of others.\nDeliver(...): %v", err)
			}
			return !IsPending(err)
		})
	}
	p.pending.mu.Lock()
	defer p.pending.mu.Unlock()
	if pendingBytes := p.pending.bytesOf[hostile]; pendingBytes > maxBytesPerNamespace {
		t.Errorf("A hostile tenant has no more than its share of the bytes that wait.\nbytes: %d", pendingBytes)
	}
}
