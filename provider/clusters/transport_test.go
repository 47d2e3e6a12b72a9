package clusters

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/provider/clusters/account"
)

// pods are the resource that is listed beside all watches.
func pods() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// TestNothingIsSentWithoutAccount reaches an API server in each way that there is, with the zero value in the place of accounts.
func TestNothingIsSentWithoutAccount(t *testing.T) {
	cases := map[string]struct {
		reason   string
		accounts *account.Accounts
		want     int32
	}{
		"Nil":      {reason: "Without accounts the provider sends no request."},
		"Zero":     {reason: "The zero value of Accounts pays for no request.", accounts: &account.Accounts{}},
		"Accounts": {reason: "With accounts each way sends a request.", accounts: account.New(account.Bounds{}), want: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, ways := newAPIServer(t), sync.Map{}
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ways.Store(r.Method+" "+r.URL.Path, true)
				http.Error(w, "", http.StatusForbidden)
			})
			p := newPool(t)
			p.accounts = tc.accounts
			l := p.Look(owner("a"))
			defer l.Done()
			c, err := l.Remote(s.kubeconfig(canary), Access{})
			if err != nil {
				t.Fatal(err)
			}
			listed := c.VisitFew(t.Context(), pods(), "team-a", "", func([]unstructured.Unstructured) {})
			_, fetched := c.Fetch(t.Context(), ref("fetched"))
			_, got := c.Only(t.Context(), ref("watched"))
			_, makeErr := c.Make(t.Context(), pods(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "team-a"}}})
			answer, _ := NewProber(Limits{Loopback: true, Accounts: tc.accounts}, time.Now).Ask(t.Context(), s.kubeconfig(canary))
			if listed == nil || fetched == nil || got == nil || makeErr == nil || answer.Reason == "" {
				t.Errorf("%s\nEach way returns an error: %v, %v, %v, %v, %v", tc.reason, listed, fetched, got, makeErr, answer)
			}
			sent := int32(0)
			ways.Range(func(any, any) bool { sent++; return true })
			if sent < tc.want || tc.want == 0 && sent > 0 {
				t.Errorf("%s\nrequests: want %d, got %d", tc.reason, tc.want, sent)
			}
		})
	}
}

// TestListsBesideWatchesShareMemory lists the pods of forty clusters of one tenant at the same time. Each list is as large as one may be, and no list ends
// before all of them came as far as they can.
func TestListsBesideWatchesShareMemory(t *testing.T) {
	const lists, store = 40, 4 * mebibyte
	end, came := make(chan struct{}), &atomic.Int32{}
	s := newAPIServer(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"PodList","items":[{"a":"`+strings.Repeat("x", 200<<10))
		w.(http.Flusher).Flush()
		came.Add(1)
		<-end
		_, _ = io.WriteString(w, `"}]}`)
	})
	p := newPool(t)
	p.accounts = account.New(account.Bounds{Store: store})
	payer := p.accounts.For(payerAccountKey("", Access{Tenant: "team-a"}))
	wg, refused := sync.WaitGroup{}, &atomic.Int32{}
	for n := range lists {
		wg.Go(func() {
			c, err := p.Look(owner("a")).Remote(s.kubeconfig(fmt.Sprint("token-", n)), Access{Tenant: "team-a"})
			if err != nil {
				t.Error(err)
				return
			}
			var failure *Error
			if err := c.VisitFew(t.Context(), pods(), "team-a", "", func([]unstructured.Unstructured) {}); errors.As(err, &failure) {
				refused.Add(1)
			}
		})
	}
	peak := int64(0)
	for began := time.Now(); came.Load() < lists || refused.Load() == 0; <-time.After(time.Millisecond) {
		peak = max(peak, payer.Memory().Used())
		if time.Since(began) > inTime {
			t.Fatalf("All lists begin.\nlists: want %d, got %d", lists, came.Load())
		}
	}
	close(end)
	wg.Wait()
	if peak == 0 || peak > store {
		t.Errorf("The lists of a tenant take memory of its account.\nmemory: want at most %d bytes, got %d", store, peak)
	}
	if got := refused.Load(); got < lists/2 {
		t.Errorf("A list that has no room ends.\nrefused: want at least %d, got %d", lists/2, got)
	}
	if used := payer.Memory().Used(); used != 0 {
		t.Errorf("A list that ended gives its memory back.\nmemory: want 0 bytes, got %d", used)
	}
}

// TestUnreadWatches has a cluster send events on many unread watches. The provider holds the sent bytes outside of any account.
func TestUnreadWatches(t *testing.T) {
	const watches = 40
	sent, began := &atomic.Int64{}, &atomic.Int32{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began.Add(1)
		for r.Context().Err() == nil {
			n, err := w.Write(make([]byte, 16<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	cfg := &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	h, wire, err := newHTTPClient(cfg, newGuardedDialer(Administrator, Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	defer wire.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	accounts := account.New(account.Bounds{})
	for n := range watches {
		e := &account.Expectation{Kind: account.EventsAnswer, Account: accounts.For(fmt.Sprint(n))}
		req, err := http.NewRequestWithContext(account.WithExpectation(ctx, e), http.MethodGet, s.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := h.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.ProtoMajor != 2 {
			t.Fatal("want HTTP/2")
		}
		defer resp.Body.Close()
	}
	isFull := func(last int64) bool { return last >= connectionWindow/2 && sent.Load() == last }
	patience, stop := context.WithTimeout(t.Context(), inTime)
	defer stop()
	for last := int64(-1); !isFull(last) && patience.Err() == nil; <-time.After(500 * time.Millisecond) { // Until nothing more can be sent.
		last = sent.Load()
	}
	const slack = watches * 64 << 10 // Buffers of the server, and of the kernel.
	if got := sent.Load(); got < connectionWindow/2 || got > connectionWindow+slack {
		t.Errorf("Watches that are not read hold the window of one connection.\nsent: want at most %d bytes, got %d", connectionWindow+slack, got)
	}
}
