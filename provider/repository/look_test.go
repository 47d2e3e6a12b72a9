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
	if again := open(t, p, s); again != r {
		t.Fatal("\nWho has the same remote and credentials has the same repository\nOpen(): another one")
	}
	if err := deliver(r, fiveFiles(0)); err != nil {
		t.Fatal(err)
	}
	requests := func(since time.Time) int {
		before := s.Requests(repo)
		var wg sync.WaitGroup
		for n := range 50 {
			wg.Go(func() {
				if _, err := r.Look(context.Background(), web(n), since); err != nil {
					t.Errorf("Look(): %v", err)
				}
			})
		}
		wg.Wait()
		return s.Requests(repo) - before
	}
	got := []int{requests(clock.Add(-time.Minute))}
	clock = clock.Add(2 * time.Minute)
	got = append(got, requests(clock.Add(-time.Minute)), requests(clock.Add(-time.Minute)))
	if diff := cmp.Diff([]int{0, 1, 0}, got); diff != "" {
		t.Errorf("\nOne look serves all, as long as it is not too old\nRequests(): -want, +got:\n%s", diff)
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
	if again := open(t, p, s); again != r {
		t.Error("\nA look is a use\nOpen(): another one")
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
		before := s.Requests(repo)
		for n := range 100 {
			if _, err := r.Look(context.Background(), web(n), clock); failure.ClassOf(err) != failure.ClassTransient {
				t.Fatalf("Look(): want %s, got %v", failure.ClassTransient, err)
			}
		}
		return s.Requests(repo) - before
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
	// The bounds are far from what it takes, and further from what it would take, since a machine may be busy with others.
	const patience = 2 * time.Second
	p := pool(Options{Patience: patience})
	dead, s := silent(t), serve(t, map[string]string{"README.md": "hello"})
	began := time.Now()
	if _, err := openURL(t, p, dead).Look(context.Background(), web(0), began); failure.ClassOf(err) != failure.ClassTransient {
		t.Errorf("\nAn object that asks gets the error\nLook(): %v", err)
	}
	if took := time.Since(began); took > 10*patience {
		t.Errorf("\nWho asks waits for a bounded time\nLook(): %s", took)
	}
	began = time.Now()
	const others = 20
	for n := range others {
		_, _ = openURL(t, p, strings.Replace(dead, "/x", fmt.Sprintf("/%d", n), 1)).Look(context.Background(), web(n), began)
	}
	if took := time.Since(began); took > others*patience/2 {
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
