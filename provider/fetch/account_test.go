package fetch

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/shares"
)

// TestNothingIsSentUnpaid makes clients in each way that leaves their account out.
func TestNothingIsSentUnpaid(t *testing.T) {
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer s.Close()
	for name, account := range map[string]*Account{"nil": nil, "zero": {}} {
		if _, err := New(Options{Loopback: true}, account); err == nil {
			t.Errorf("\nClients need an account.\nNew(%s): want an error", name)
		}
	}
	var none *Clients
	for name, c := range map[string]*Client{"nil": nil, "zero": {}, "of no clients": none.ForNamespace("team-a"), "of zero clients": (&Clients{}).ForNamespace("team-a")} {
		if diff := cmp.Diff(ProblemUnpaid, do(t, c, s.URL, Credentials{})); diff != "" {
			t.Errorf("\nA client without an account sends nothing.\nDo(...) of a client that is %s: -want, +got:\n%s", name, diff)
		}
	}
	if requests > 0 {
		t.Errorf("\nA client without an account sends nothing.\nrequests: want 0, got %d", requests)
	}
}

// TestPlacesAreShared lets one namespace use up its share at a server that does not answer, through two kinds of clients of one account.
func TestPlacesAreShared(t *testing.T) {
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			arrived <- struct{}{}
			<-release
		}
	}))
	defer s.Close()
	account := NewMeasurementAccount()
	first, err := New(Options{Loopback: true}, account)
	if err != nil {
		t.Fatal(err)
	}
	second, err := New(Options{Loopback: true}, account)
	if err != nil {
		t.Fatal(err)
	}
	hangs, err := url.Parse(s.URL + "/hangs")
	if err != nil {
		t.Fatal(err)
	}
	const perHost = 8
	ends := make(chan error, perHost)
	for range perHost {
		go func() {
			_, err := first.ForNamespace("hostile").Do(t.Context(), Request{URL: hangs})
			ends <- err
		}()
		<-arrived
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := second.ForNamespace("hostile").Do(ended, Request{URL: hangs}); !errors.Is(err, ErrBusy) || !IsOutage(err) {
		t.Errorf("\nAll clients of an account share its places at a server.\nDo(...): want %v, got %v", ErrBusy, err)
	}
	close(release)
	for range perHost {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff("200 ", do(t, second.ForNamespace("good"), s.URL, Credentials{})); diff != "" {
		t.Errorf("\nA place is free again after its request.\nDo(...): -want, +got:\n%s", diff)
	}
}

// TestWaitingRequestsHoldNoMemory lets requests wait for the places of a server that does not answer.
func TestWaitingRequestsHoldNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		account, place := NewMeasurementAccount(), shares.Place{Host: "metrics.example.org", Namespace: "hostile"}
		const perHost = 8
		used := memory.Used()
		for range perHost {
			free, err := account.acquirePlace(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			defer free()
		}
		for range 4 * perHost {
			go func() {
				if free, err := account.acquirePlace(t.Context(), place); err == nil {
					free()
				}
			}()
		}
		synctest.Wait()
		if diff := cmp.Diff(int64(perHost*answerBytes), memory.Used()-used); diff != "" {
			t.Errorf("\nRequests have memory once they have a place.\nmemory.Used(): -want, +got:\n%s", diff)
		}
	})
}

// TestNotificationsHoldNoAnswer reads an answer whose status is all that counts.
func TestNotificationsHoldNoAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("taken")) }))
	defer s.Close()
	c, err := New(Options{Loopback: true}, NewNotificationAccount())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("200 ", do(t, c.ForNamespace("team-a"), s.URL, Credentials{})); diff != "" {
		t.Errorf("\nThe body of an answer to a notification is not held.\nDo(...): -want, +got:\n%s", diff)
	}
}
