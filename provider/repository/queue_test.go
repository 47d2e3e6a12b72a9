package repository

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/transport"
)

func TestQueueIsFair(t *testing.T) {
	q, want := queue{}, "a0 b0 c0 a1 b1 a2 a3 "
	for _, name := range []string{"a0", "a1", "a2", "a3", "b0", "gone", "b1", "c0"} {
		i := &item{Delivery: Delivery{Object: types.NamespacedName{Namespace: name[:1], Name: name}}}
		q.enqueueItem(i)
		if name == "gone" && (!q.dropItem(i) || q.dropItem(i)) {
			t.Error("\nA dropped item is removed, once\ndrop(...)")
		}
	}
	got := strings.Builder{}
	for q.size > 0 {
		if q.peekItem().Object.Name == "" {
			t.Fatal("peekItem(): the queue is empty")
		}
		got.WriteString(q.takeNextItem().Object.Name + " ")
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("\nEach namespace has its turn, and within one the first comes first\nnext(): -want, +got:\n%s", diff)
	}
}

func TestIdleIsForgotten(t *testing.T) {
	clock := time.Now()
	p := pool(Options{Now: func() time.Time { return clock }})
	open := func(namespace string, n int) {
		clock = clock.Add(time.Second)
		openRemote(t, p, fmt.Sprintf("http://127.0.0.1:1/%d", n), ofNamespace(namespace, n), func(r *git.Remote) {
			r.Proxy = &transport.Proxy{URL: fmt.Sprintf("http://127.0.0.1:%d", n+1)}
		})
	}
	open("team-a", 0)
	for n := range 2 * maxIdle {
		open(hostile, n)
	}
	if diff := cmp.Diff([]int{maxIdle + 2, maxIdle + 2}, []int{len(p.repos), len(p.hosts)}); diff != "" {
		t.Errorf("A namespace with too many repositories loses its least recently used repositories, and their hosts.\n-want, +got:\n%s", diff)
	}
	clock = clock.Add(idleTime + time.Minute)
	open("team-a", 1)
	if diff := cmp.Diff([]int{1, 1}, []int{len(p.repos), len(p.hosts)}); diff != "" {
		t.Errorf("Repositories that are not used are forgotten with their hosts.\n-want, +got:\n%s", diff)
	}
	if !p.tenants.slots.IsIdle() || !p.tenants.lanes.IsIdle() {
		t.Error("Slots and lanes that are free are forgotten.\nIsIdle(): want true")
	}
}

// TestRetriedFailure retries a failed delivery. Until the retry has ended, the delivery has the failure of the last try, unless it has another
// version by now.
func TestRetriedFailure(t *testing.T) {
	s, clock := serve(t, map[string]string{"README.md": "hello"}), time.Now()
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	s.DropPush(repo, func() {})
	d := fiveFiles(0)
	d.Version = "1"
	failed := deliver(r, d)
	if failed == nil || IsPending(failed) {
		t.Fatalf("Deliver(...): want a failure, got %v", failed)
	}
	cases := []struct {
		reason  string
		version string
		aside   bool
		// hasFailed is true if the delivery says how the last try failed.
		hasFailed bool
	}{
		{reason: "A retry says how the last try failed.", version: "1", hasFailed: true},
		{reason: "A later delivery leaves the failure of its predecessor.", version: "1 aside", aside: true, hasFailed: true},
		{reason: "A delivery of another version did not fail.", version: "2"},
	}
	for _, tc := range cases {
		clock = clock.Add(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		free := make(chan struct{})
		s.DropPush(repo, func() { cancel(); <-free })
		d.Version, d.IsAside = tc.version, tc.aside
		for _, err := range []error{r.Deliver(ctx, d), lookAt(ctx, r, d)} {
			want := fmt.Sprint(error(nil))
			if tc.hasFailed {
				want = failed.Error()
			}
			if diff := cmp.Diff(want, fmt.Sprint(RetriedFailure(err))); !IsPending(err) || diff != "" {
				t.Errorf("\n%s\nRetriedFailure(%v): -want, +got:\n%s", tc.reason, err, diff)
			}
		}
		close(free)
		must(t, lookUntilAnswered(t, r, d))
	}
	s.DropPush(repo, nil)
	clock = clock.Add(time.Hour)
	must(t, deliver(r, d))
	if n := countFailed(r); n != 0 {
		t.Errorf("A delivery that succeeded is forgotten: want no failure, got %d", n)
	}
}

func countFailed(r *Repository) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failed)
}

func lookAt(ctx context.Context, r *Repository, d Delivery) error {
	_, err := r.Look(ctx, d.Object, time.Time{})
	return err
}

// lookUntilAnswered waits until nothing of the object is under way.
func lookUntilAnswered(t *testing.T, r *Repository, d Delivery) error {
	t.Helper()
	until(func() bool { _, isPending := r.pool.pending.itemOfObject(d.Object); return !isPending })
	return lookAt(t.Context(), r, d)
}
