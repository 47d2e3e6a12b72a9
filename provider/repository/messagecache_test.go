package repository

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestMessagesAreShared lets many callers ask for the messages of commits, of a repository that is down and of a repository
// that answers.
func TestMessagesAreShared(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	ask := func(class failure.Class) int {
		t.Helper()
		snapshot, _ := r.knownSnapshot()
		snapshot = snapshot.Open()
		baseline := s.Requests(repo)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				notes, err := r.ReadMessages(context.Background(), snapshot, "Delivery: ")
				if failure.ClassOf(err) != class || (err == nil) != (len(notes) > 0) {
					t.Errorf("ReadMessages(): want class %q, got %v, %v", class, notes, err)
				}
			})
		}
		wg.Wait()
		return s.Requests(repo) - baseline
	}
	for n := range 2 {
		if err := deliver(r, fiveFiles(n)); err != nil {
			t.Fatal(err)
		}
	}
	s.Fail(repo, http.StatusServiceUnavailable)
	got := []int{ask(failure.ClassTransient)}
	s.Fail(repo, 0)
	clock = clock.Add(time.Minute)
	got = append(got, ask(""), ask(""))
	if err := deliver(r, fiveFiles(2)); err != nil {
		t.Fatal(err)
	}
	got = append(got, ask(""))
	// To read is to ask for the refs, and then for the commits.
	if diff := cmp.Diff([]int{1, 2, 0, 2}, got); diff != "" {
		t.Errorf("\nOne caller reads for all, once for each tip, and a repository that is down is asked once\nRequests(): -want, +got:\n%s", diff)
	}
}

// TestMessagesWaitForABoundedTime asks while another object reads from a host that does not answer.
func TestMessagesWaitForABoundedTime(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Patience: 10 * time.Millisecond}), s)
	if err := deliver(r, fiveFiles(0)); err != nil && !IsPending(err) {
		t.Fatal(err)
	}
	until(func() bool { snapshot, _ := r.knownSnapshot(); return snapshot != nil })
	laterSnapshot, _ := r.knownSnapshot()
	r.messagesTurn <- struct{}{}
	if _, err := r.ReadMessages(context.Background(), laterSnapshot, "x"); failure.ClassOf(err) != failure.ClassTransient {
		t.Errorf("\nAn object waits for a bounded time\nReadMessages(): want %s, got %v", failure.ClassTransient, err)
	}
	<-r.messagesTurn
}
