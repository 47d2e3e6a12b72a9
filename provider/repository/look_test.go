package repository

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestLooksAreShared(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	p := pool(Options{Now: func() time.Time { return clock }})
	r := open(t, p, s)
	if reopened := open(t, p, s); reopened != r {
		t.Fatal("\nCallers with the same remote and credentials share a repository\nOpen(): another repository")
	}
	if err := deliver(r, fiveFiles(0)); err != nil {
		t.Fatal(err)
	}
	requests := func(notBefore time.Time) int {
		baseline := s.Requests(repo)
		var wg sync.WaitGroup
		for n := range 50 {
			wg.Go(func() {
				if _, err := r.Look(context.Background(), web(n), notBefore); err != nil {
					t.Errorf("Look(): %v", err)
				}
			})
		}
		wg.Wait()
		return s.Requests(repo) - baseline
	}
	got := []int{requests(clock.Add(-time.Minute))}
	clock = clock.Add(2 * time.Minute)
	got = append(got, requests(clock.Add(-time.Minute)), requests(clock.Add(-time.Minute)))
	if diff := cmp.Diff([]int{0, 1, 0}, got); diff != "" {
		t.Errorf("\nOne look answers all callers, as long as it is not too old\nRequests(): -want, +got:\n%s", diff)
	}
}

func TestLookedAtIsNotForgotten(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	p := pool(Options{Now: func() time.Time { return clock }})
	r := open(t, p, s)
	clock = clock.Add(idleTime)
	if _, err := r.Look(t.Context(), web(0), clock); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Minute)
	openURL(t, p, s.URL("team/other"))
	if reopened := open(t, p, s); reopened != r {
		t.Error("\nA look is a use\nOpen(): another repository")
	}
}

func TestUnreachableServerIsAskedOnce(t *testing.T) {
	clock := time.Now()
	woken := make(chan types.NamespacedName, 1000)
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }, Wake: func(k types.NamespacedName) { woken <- k }}), s)
	s.Fail(repo, http.StatusServiceUnavailable)
	ask := func() int {
		t.Helper()
		baseline := s.Requests(repo)
		for n := range 100 {
			if _, err := r.Look(context.Background(), web(n), clock); failure.ClassOf(err) != failure.ClassTransient {
				t.Fatalf("Look(): want %s, got %v", failure.ClassTransient, err)
			}
		}
		return s.Requests(repo) - baseline
	}
	got := []int{ask()}
	clock = clock.Add(10 * time.Second)
	got = append(got, ask())
	if diff := cmp.Diff([]int{1, 1}, got); diff != "" {
		t.Errorf("\nA repository that is down is asked once, and again after a while\nRequests(): -want, +got:\n%s", diff)
	}
	s.Fail(repo, 0)
	clock = clock.Add(time.Minute)
	if _, err := r.Look(context.Background(), web(0), clock); err != nil {
		until(func() bool { _, err = r.Look(context.Background(), web(0), clock); return err == nil })
	}
	for range 99 {
		<-woken
	}
}

// silent is a host that takes connections and never says anything.
func silent(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String() + "/x.git"
}

func TestSilentHostDelaysNoOther(t *testing.T) {
	// The bounds are far from the usual duration, and further from the duration of a fault, since a machine may be busy with
	// others.
	const patience = 2 * time.Second
	p := pool(Options{Patience: patience})
	dead, s := silent(t), serve(t, map[string]string{"README.md": "hello"})
	began := time.Now()
	if _, err := openURL(t, p, dead).Look(context.Background(), web(0), began); failure.ClassOf(err) != failure.ClassTransient {
		t.Errorf("\nAn object that asks gets the error\nLook(): %v", err)
	}
	if took := time.Since(began); took > 10*patience {
		t.Errorf("\nA caller waits for a bounded time\nLook(): %s", took)
	}
	began = time.Now()
	const otherHosts = 20
	for n := range otherHosts {
		_, _ = openURL(t, p, strings.Replace(dead, "/x", fmt.Sprintf("/%d", n), 1)).Look(context.Background(), web(n), began)
	}
	if took := time.Since(began); took > otherHosts*patience/2 {
		t.Errorf("\nAn object does not wait for a host that was slow before\nLook(): %s", took)
	}
	r := open(t, p, s)
	until(func() bool {
		err := deliver(r, fiveFiles(1))
		if err != nil && !IsPending(err) {
			t.Errorf("\nOther hosts are not harmed\nDeliver(): %v", err)
		}
		return !IsPending(err)
	})
}

// TestLookAgain looks for users who asked, whatever is known and waited out.
func TestLookAgain(t *testing.T) {
	clock := time.Now()
	now := func() time.Time { return clock }
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: now, After: func(time.Duration) <-chan time.Time {
		due := make(chan time.Time)
		close(due)
		return due
	}}), s)
	requests := func(look func() error, wantOK bool) int {
		t.Helper()
		baseline := s.Requests(repo)
		if err := look(); (err == nil) != wantOK {
			t.Fatalf("look: %v, want success: %t", err, wantOK)
		}
		return s.Requests(repo) - baseline
	}
	plain := func() error { _, err := r.Look(t.Context(), web(0), clock.Add(-time.Minute)); return err }
	requestedAt := clock
	refresh := func() error { _, err := r.LookAgain(t.Context(), web(0), requestedAt); return err }
	got := []int{requests(plain, true)}
	clock = clock.Add(time.Second)
	requestedAt = clock
	if r.HasLookedSince(requestedAt) {
		t.Error("HasLookedSince(...): a look from before a user asked counts")
	}
	got = append(got, requests(plain, true), requests(refresh, true), requests(refresh, true))
	if !r.HasLookedSince(requestedAt) {
		t.Error("HasLookedSince(...): the look that a user asked for does not count")
	}
	s.Fail(repo, http.StatusServiceUnavailable)
	clock = clock.Add(3 * time.Second)
	requestedAt = clock
	got = append(got, requests(refresh, false), requests(refresh, false))
	s.Fail(repo, 0)
	clock = clock.Add(10 * time.Millisecond)
	got = append(got, requests(plain, true))
	if diff := cmp.Diff([]int{2, 0, 1, 0, 1, 0, 0}, got); diff != "" {
		t.Errorf("\nA user who asks gets an answer from after that, and each answer is for all users who asked before it.\nrequests: -want, +got:\n%s", diff)
	}
	clock = clock.Add(time.Millisecond)
	requestedAt = clock
	if n := requests(refresh, true); n != 1 || !r.HasLookedSince(requestedAt) {
		t.Errorf("\nA cached error does not answer a user who asks.\nrequests: %d, want 1", n)
	}
}

// TestLooksOfUsersAreSpread looks at most once each two seconds, however many users ask.
func TestLooksOfUsersAreSpread(t *testing.T) {
	clock, pauses := time.Now(), make(chan time.Duration, 100)
	due := make(chan time.Time)
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }, After: func(d time.Duration) <-chan time.Time { pauses <- d; return due }}), s)
	if _, err := r.LookAgain(t.Context(), web(0), clock); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Millisecond)
	baseline := s.Requests(repo)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			if _, err := r.LookAgain(t.Context(), web(n), clock); err != nil {
				t.Errorf("LookAgain(): %v", err)
			}
		})
	}
	if got := <-pauses; got != askedInterval-time.Millisecond {
		t.Errorf("LookAgain(): a pause of %s, want %s", got, askedInterval-time.Millisecond)
	}
	until(func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.askers) == 50 })
	close(due)
	wg.Wait()
	if got := s.Requests(repo) - baseline; got != 1 {
		t.Errorf("\nOne look serves all users who asked meanwhile.\nrequests: %d, want 1", got)
	}
}

// TestAskersAreWoken wakes an object whose user asked for a look that took too long, also if that failed.
func TestAskersAreWoken(t *testing.T) {
	clock, woken, due := time.Now(), make(chan types.NamespacedName, 1), make(chan time.Time)
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{
		Now: func() time.Time { return clock }, Wake: func(k types.NamespacedName) { woken <- k }, Patience: time.Millisecond,
		After: func(time.Duration) <-chan time.Time { return due },
	}), s)
	r.askedLookAt = clock
	if _, err := r.LookAgain(t.Context(), web(0), clock); err == nil || r.HasLookedSince(clock) {
		t.Errorf("LookAgain(...): a look that has not ended is an answer: %v", err)
	}
	s.Fail(repo, http.StatusServiceUnavailable)
	close(due)
	if got := <-woken; got != web(0) || !r.HasLookedSince(clock) {
		t.Errorf("woken: %s, want %s once the look has ended", got, web(0))
	}
}

// TestLateFailure ends looks in another order than that in which they began.
func TestLateFailure(t *testing.T) {
	began, down := time.Now(), failure.Newf(failure.ClassTransient, "down")
	cases := map[string]struct {
		reason       string
		first, after error
		want         error
		wantFailedAt time.Time
	}{
		"AfterSuccess": {reason: "A look that fails late does not undo the result of a later look.", after: down, wantFailedAt: began},
		"AfterFailure": {
			reason: "A look that fails late does not take the place of a later failure.",
			first:  failure.Newf(failure.ClassAuth, "denied"), after: down, want: failure.Newf(failure.ClassAuth, "denied"),
			wantFailedAt: began.Add(time.Second),
		},
		"Success": {reason: "A look that succeeds late proves that the repository answers.", first: down, wantFailedAt: began.Add(time.Second)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clock := began.Add(time.Minute)
			r := open(t, pool(Options{Now: func() time.Time { return clock }}), serve(t, map[string]string{"README.md": "hello"}))
			r.recordSharedLook(&sharedLook{began: began.Add(time.Second), done: make(chan struct{}), err: tc.first})
			previous := r.lookBackoff
			r.recordSharedLook(&sharedLook{began: began, done: make(chan struct{}), err: tc.after})
			if diff := cmp.Diff(failure.ClassOf(tc.want), failure.ClassOf(r.lookBackoff.Cause())); diff != "" {
				t.Errorf("\n%s\nclass of the backoff's cause: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.want != nil && r.lookBackoff != previous {
				t.Errorf("\n%s\nthe wait changed from %+v to %+v", tc.reason, previous, r.lookBackoff)
			}
			if !r.failedLookAt.Equal(tc.wantFailedAt) {
				t.Errorf("\n%s\nfailedLookAt: want %s, got %s", tc.reason, tc.wantFailedAt, r.failedLookAt)
			}
		})
	}
}

// TestSnapshotsOfReaders lets two objects read one repository, of which the pool caches a snapshot.
func TestSnapshotsOfReaders(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{}), s)
	for n := range 2 {
		snapshot, err := r.Look(t.Context(), web(n), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := snapshot.Entry(t.Context(), "README.md"); !ok || err != nil {
			t.Errorf("\nEach reader gets a snapshot with a meter of its own.\nEntry(...): %t, %v", ok, err)
		}
	}
	cached, _ := r.knownSnapshot()
	if _, _, err := cached.Entry(t.Context(), "README.md"); failure.ClassOf(err) != failure.ClassUnknown {
		t.Errorf("\nThe cached snapshot has no reader, so it refuses to be read.\nEntry(...): %v", err)
	}
}
