package repository

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

// TestDroppedRepositoryRetainsNothing uses a repository that the pool dropped, as a delivery does that had it from before.
func TestDroppedRepositoryRetainsNothing(t *testing.T) {
	cases := map[string]struct {
		reason string
		use    func(t *testing.T, r *Repository)
	}{
		"Untouched": {reason: "A repository that the pool drops retains no snapshot.", use: func(*testing.T, *Repository) {}},
		"Look": {reason: "A look at a dropped repository retains no snapshot.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			_, err := r.Look(t.Context(), web(1), time.Now())
			must(t, err)
		}},
		"Deliver": {reason: "A push to a dropped repository retains no snapshot.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			must(t, r.Deliver(context.Background(), fiveFiles(1)))
		}},
		"Notes": {reason: "Commits that were read from a dropped repository are not retained.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			s, err := r.Look(t.Context(), web(1), time.Now())
			must(t, err)
			_, err = r.ReadMessages(t.Context(), s, "Intentplane-")
			must(t, err)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			clock := time.Now()
			p := pool(Options{Now: func() time.Time { return clock }})
			r := open(t, p, s)
			snapshot, err := r.Look(t.Context(), web(1), clock)
			must(t, err)
			_, err = r.ReadMessages(t.Context(), snapshot, "Intentplane-")
			must(t, err)
			clock = clock.Add(idleTime + time.Minute)
			openRemote(t, p, s.URL("other"))
			if diff := cmp.Diff(true, r.IsClosed()); diff != "" {
				t.Fatalf("A repository that was not used for a long time is dropped.\nIsClosed(): -want, +got:\n%s", diff)
			}
			tc.use(t, r)
			_, size := snapshotHolder{r}.Retained()
			if diff := cmp.Diff([]bool{false, true}, []bool{size > 0, r.knownMessages() == nil}); diff != "" {
				t.Errorf("%s\nhas a snapshot, has no commits: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIdleRepositoriesOfAdministratorsAreRetained(t *testing.T) {
	clock := time.Now()
	p := pool(Options{Now: func() time.Time { return clock }})
	for n := range maxIdle + 10 {
		clock = clock.Add(time.Second)
		openRemote(t, p, fmt.Sprintf("http://127.0.0.1:1/%d", n), func(*git.Remote) {})
	}
	if diff := cmp.Diff(maxIdle+10, len(p.repos)); diff != "" {
		t.Errorf("Repositories of cluster-scoped configurations are as many as administrators wrote.\nrepositories: -want, +got:\n%s", diff)
	}
}

// A stoppedClock is a clock that stands still. It reports each pause that begins.
type stoppedClock struct {
	begun chan time.Duration
	// free are the pauses that end at once.
	free int
}

func (c *stoppedClock) startPause(d time.Duration) <-chan time.Time {
	c.begun <- d
	out := make(chan time.Time, 1)
	if c.free > 0 {
		c.free--
		out <- time.Time{}
	}
	return out
}

// TestEndedPoolStartsNoPause ends a pool in the midst of a pause that would last for ever.
func TestEndedPoolStartsNoPause(t *testing.T) {
	cases := map[string]struct {
		reason string
		// free pauses come before.
		free int
		want bool
	}{
		"LostRace": {reason: "A delivery that lost a race fails when the pool ends, and is not tried again.", want: false},
		"Won":      {reason: "A delivery that pauses for other writers goes on at once when the pool ends.", free: 1, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			c := &stoppedClock{begun: make(chan time.Duration, 10), free: tc.free}
			p := pool(Options{After: c.startPause, Pause: func() time.Duration { return time.Hour }})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			stopped := make(chan error, 1)
			go func() { stopped <- p.Start(ctx) }()
			r := open(t, p, s)
			must(t, deliver(r, fiveFiles(1)))
			overtake(t, s)
			first := make(chan error, 1)
			go func() { first <- deliver(r, fiveFiles(2)) }()
			for range tc.free + 1 {
				await(t, c.begun)
			}
			stop()
			if err := await(t, first); (err == nil) != tc.want || err != nil && failure.ClassOf(err) != failure.ClassTransient {
				t.Errorf("\n%s\nDeliver(...): %v", tc.reason, err)
			}
			must(t, await(t, stopped))
			// A delivery that comes now does not wait either: the pool starts no pause any more.
			if tc.want {
				must(t, deliver(r, fiveFiles(3)))
			}
			if n := len(c.begun); n != 0 {
				t.Errorf("\n%s\n%d more pauses began", tc.reason, n)
			}
		})
	}
}

// overtake pushes an unmanaged commit that no look has seen.
func overtake(t *testing.T, s *gitserver.Server) {
	t.Helper()
	c, err := git.NewClient(git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: "refs/foreign/state"}, budget.New())
	must(t, err)
	defer c.Close()
	must(t, foreignPush(t, c, "theirs"))
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing happens")
	}
	panic("unreachable")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEndedReportsEachOperation hears of each conversation with the server.
func TestEndedReportsEachOperation(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	var mu sync.Mutex
	pushes, deliveries, looks, failed := 0, 0, 0, []failure.Class{}
	r := open(t, pool(Options{Ended: func(o Operation) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case o.Err != nil:
			failed = append(failed, failure.ClassOf(o.Err))
		case o.Name == OperationPush:
			pushes++
			deliveries += o.Deliveries
		case o.Name == OperationLook:
			looks++
		}
	}}), s)
	for key, err := range gather(t, s, r, fiveFiles(1), fiveFiles(2), fiveFiles(3)) {
		if err != nil {
			t.Fatalf("Deliver(%s): %v", key, err)
		}
	}
	// The first delivery of all creates the state, which is pushed alone, and then the branch. The next delivery is held, and
	// three gather.
	if diff := cmp.Diff([]int{4, 5, 1}, []int{pushes, deliveries, looks}); diff != "" {
		t.Errorf("pushes, deliveries and looks: -want, +got:\n%s", diff)
	}
	hook(t, s, "update", "echo no; exit 1")
	if err := deliver(r, fiveFiles(4)); err == nil {
		t.Fatal("Deliver(...): want an error")
	}
	if len(failed) == 0 || strings.Contains(string(failed[0]), " ") {
		t.Errorf("operations that failed, by class: got %q", failed)
	}
}

// TestWakeWith wakes the objects of another controller by their own names, and all others as before.
func TestWakeWith(t *testing.T) {
	var ownWakes, otherWakes []string
	p := pool(Options{Wake: func(key types.NamespacedName) { ownWakes = append(ownWakes, key.String()) }})
	p.WakeWith("other/", func(key types.NamespacedName) { otherWakes = append(otherWakes, key.String()) })
	for _, name := range []string{"web", "other/web", "unknown/web", "other"} {
		p.wakeObject(types.NamespacedName{Namespace: "ns", Name: name})
	}
	if diff := cmp.Diff([]string{"ns/web", "ns/unknown/web", "ns/other"}, ownWakes); diff != "" {
		t.Errorf("objects of the pool's own controller: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ns/web"}, otherWakes); diff != "" {
		t.Errorf("objects of the other one: -want, +got:\n%s", diff)
	}
}
