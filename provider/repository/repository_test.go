package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

func run(tb testing.TB, s *gitserver.Server, args ...string) string {
	tb.Helper()
	out, err := s.Git(context.Background(), repo, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func hook(t *testing.T, s *gitserver.Server, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Path(repo), "hooks", name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func web(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: fmt.Sprintf("web-%d", n)}
}

func deliver(r *Repository, d Delivery) error { return r.Deliver(context.Background(), d) }

// gather lets deliveries wait for a push that is held until all of them have come, and returns how each ended.
func gather(t *testing.T, s *gitserver.Server, r *Repository, waiting ...Delivery) map[types.NamespacedName]error {
	t.Helper()
	if err := deliver(r, fiveFiles(1000)); err != nil {
		t.Fatal(err)
	}
	hold, free := make(chan struct{}), make(chan struct{})
	s.AfterPush(repo, func() {
		s.AfterPush(repo, nil)
		close(hold)
		<-free
	})
	var wg sync.WaitGroup
	var mu sync.Mutex
	out := map[types.NamespacedName]error{}
	begin := func(d Delivery) {
		wg.Go(func() {
			err := deliver(r, d)
			mu.Lock()
			defer mu.Unlock()
			out[d.Object] = err
		})
	}
	begin(fiveFiles(1001))
	<-hold
	for n, d := range waiting {
		begin(d)
		until(func() bool { return r.queueLength() > n })
	}
	close(free)
	wg.Wait()
	return out
}

func (r *Repository) queueLength() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue.size
}

// until waits for a condition, which does not take long.
func until(condition func() bool) {
	for !condition() {
		<-time.After(time.Millisecond)
	}
}

func TestWaitingDeliveriesShareOnePush(t *testing.T) {
	cases := map[string]struct {
		reason string
		atomic string
		pushes int
		plans  int32
	}{
		"Atomic": {reason: "All deliveries that wait go with one push.", atomic: "true", pushes: 4, plans: 10},
		"NotAtomic": {
			reason: "A server without atomic pushes gets the deliveries one by one, each after its state.",
			atomic: "false", pushes: 2 + 2 + 2*10, plans: 10 + 10,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			run(t, s, "config", "receive.advertiseAtomic", tc.atomic)
			r := open(t, pool(Options{}), s)
			waiting, plans := []Delivery{}, atomic.Int32{}
			for n := range 10 {
				d := fiveFiles(n)
				plan := d.Plan
				d.Plan = func(ctx context.Context, draft *git.Draft) error {
					plans.Add(1)
					return plan(ctx, draft)
				}
				waiting = append(waiting, d)
			}
			for key, err := range gather(t, s, r, waiting...) {
				if err != nil {
					t.Errorf("\n%s\nDeliver(%s): %v", tc.reason, key, err)
				}
			}
			if diff := cmp.Diff(tc.pushes, s.Pushes(repo)); diff != "" {
				t.Errorf("\n%s\nPushes(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.plans, plans.Load()); diff != "" {
				t.Errorf("\n%s\nPlan(...) was called: -want, +got:\n%s", tc.reason, diff)
			}
			r.mu.Lock()
			if isSerial := tc.atomic == "false"; r.serial != isSerial {
				t.Errorf("\n%s\nWhether one delivery goes with each push from then on: want %t, got %t", tc.reason, isSerial, r.serial)
			}
			r.mu.Unlock()
			if diff := cmp.Diff("13", run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" {
				t.Errorf("\nEach delivery is a commit of its own\nrev-list: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(12, len(strings.Fields(run(t, s, "ls-tree", "-r", "--name-only", "refs/intentplane/prod/state")))); diff != "" {
				t.Errorf("\nEach delivery is remembered\nls-tree: -want, +got:\n%s", diff)
			}
			run(t, s, "fsck", "--strict", "--full")
		})
	}
}

// TestStateLostUnderGroup takes the state away while many wait for a push.
func TestStateLostUnderGroup(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{}), s)
	waiting := []Delivery{}
	for n := range 5 {
		waiting = append(waiting, fiveFiles(n))
	}
	lose := waiting[4].Plan
	deleteState := sync.OnceFunc(func() { run(t, s, "update-ref", "-d", "refs/intentplane/prod/state") })
	waiting[4].Plan = func(ctx context.Context, d *git.Draft) error {
		deleteState()
		return lose(ctx, d)
	}
	for key, err := range gather(t, s, r, waiting...) {
		if err != nil {
			t.Errorf("\nA lost race is tried again\nDeliver(%s): %v", key, err)
		}
	}
	// Each first delivery takes two pushes, for its state goes ahead; the refused push is one more; the rest goes together.
	if diff := cmp.Diff(2+1+1+2+1, s.Pushes(repo)); diff != "" {
		t.Errorf("\nA delivery that recovers the state for all is pushed alone\nPushes(): -want, +got:\n%s", diff)
	}
}

func TestRejectedDeliveryHarmsNoOther(t *testing.T) {
	bad := web(3)
	cases := map[string]struct {
		reason string
		hook   string
		bad    Delivery
		want   failure.Class
	}{
		"Refused": {
			reason: "A delivery that the server refuses is found among the others, which are delivered.",
			hook:   `while read old new ref; do git ls-tree -r --name-only "$new" | grep -q web-3/ && echo "rule 7 says no" >&2 && exit 1; done; exit 0`,
			bad:    fiveFiles(3), want: failure.ClassPolicy,
		},
		"Invalid": {
			reason: "A delivery whose plan fails is left out, and the others are delivered.",
			bad: Delivery{Object: bad, Plan: func(ctx context.Context, d *git.Draft) error {
				_, err := d.Commit(ctx, git.Change{})
				return err
			}},
			want: failure.ClassInvalid,
		},
		"HalfPlanned": {
			reason: "A plan that fails in the middle leaves nothing in the draft.",
			bad: Delivery{Object: bad, Plan: func(ctx context.Context, d *git.Draft) error {
				_ = fiveFiles(3).Plan(ctx, d)
				return &failure.Error{Class: failure.ClassTooLarge}
			}},
			want: failure.ClassTooLarge,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			if tc.hook != "" {
				hook(t, s, "pre-receive", tc.hook)
			}
			r := open(t, pool(Options{}), s)
			waiting := []Delivery{}
			for n := range 8 {
				waiting = append(waiting, fiveFiles(n))
			}
			waiting[3] = tc.bad
			for key, err := range gather(t, s, r, waiting...) {
				want := failure.Class("")
				if key == bad {
					want = tc.want
				}
				if diff := cmp.Diff(want, failure.ClassOf(err)); diff != "" {
					t.Errorf("\n%s\nDeliver(%s): -want, +got:\n%s", tc.reason, key, diff)
				}
			}
			if diff := cmp.Diff("10", run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" {
				t.Errorf("\n%s\nrev-list: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusedIsNotAskedAgain(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	hook(t, s, "update", `case "$1" in refs/heads/main) echo "rule 7 says no" >&2; exit 1;; esac`)
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	refused := func(d Delivery) int {
		t.Helper()
		baseline := s.Pushes(repo)
		if err := deliver(r, d); failure.ClassOf(err) != failure.ClassPolicy {
			t.Fatalf("Deliver(): want a refusal, got %v", err)
		}
		return s.Pushes(repo) - baseline
	}
	d := fiveFiles(1)
	got := []int{refused(d), refused(d)}
	d.Version = "another"
	got = append(got, refused(d))
	clock = clock.Add(time.Minute)
	got = append(got, refused(d))
	if diff := cmp.Diff([]int{2, 0, 1, 1}, got); diff != "" {
		t.Errorf("\nThe server gets another request after a change, or after a while\nPushes(): -want, +got:\n%s", diff)
	}
}

// TestRequestEndsTheBackoffOfPushes asks for another push after the server failed, and after it refused the object.
func TestRequestEndsTheBackoffOfPushes(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	pushes := func(d Delivery) int {
		t.Helper()
		baseline := s.Pushes(repo)
		if err := deliver(r, d); err == nil {
			t.Fatal("Deliver(): want a failure")
		}
		return s.Pushes(repo) - baseline
	}
	for name, script := range map[string]string{
		"refused": `case "$1" in refs/heads/main) echo "rule 7 says no" >&2; exit 1;; esac`,
		"broken":  "exit 1",
	} {
		hook(t, s, "update", script)
		d := fiveFiles(1)
		d.Version = name
		if n := pushes(d); n == 0 {
			t.Errorf("%s: the first delivery is not pushed", name)
		}
		if n := pushes(d); n != 0 {
			t.Errorf("%s: a failure is not waited out: %d pushes", name, n)
		}
		clock = clock.Add(time.Second)
		if d.Asked = clock; pushes(d) == 0 {
			t.Errorf("%s: a request of a user does not end the wait", name)
		}
		clock = clock.Add(time.Hour)
	}
}

func TestAbandonedDeliveryIsWoken(t *testing.T) {
	woken := make(chan types.NamespacedName, 10)
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Wake: func(k types.NamespacedName) { woken <- k }}), s)
	if err := deliver(r, fiveFiles(0)); err != nil {
		t.Fatal(err)
	}
	hold, free := make(chan struct{}), make(chan struct{})
	s.AfterPush(repo, func() { close(hold); <-free })
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-hold; cancel() }()
	if err := r.Deliver(ctx, fiveFiles(1)); !IsPending(err) {
		t.Errorf("\nAn object that stops waiting gets a PendingError\nDeliver(): %v", err)
	}
	if _, err := r.Look(ctx, web(1), time.Time{}); !IsPending(err) {
		t.Errorf("\nA push that is under way may change the observation\nLook(): %v", err)
	}
	waits := make(chan error)
	go func() { waits <- deliver(r, fiveFiles(2)) }()
	until(func() bool { return r.queueLength() > 0 })
	if _, err := r.Look(context.Background(), web(2), time.Time{}); err != nil {
		t.Errorf("\nA delivery that has not begun is withdrawn\nLook(): %v", err)
	}
	if err := <-waits; !IsPending(err) {
		t.Errorf("\nA delivery that has not begun is withdrawn\nDeliver(): %v", err)
	}
	s.AfterPush(repo, nil)
	close(free)
	if diff := cmp.Diff(web(1), <-woken); diff != "" {
		t.Errorf("\nAn object that stopped waiting is woken\nWake(): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("3", run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" {
		t.Errorf("\nA begun push goes on, and a withdrawn delivery does not\nrev-list: -want, +got:\n%s", diff)
	}
}

// TestSnapshotHolder drops the snapshot of a repository, as the cache of snapshots does.
func TestSnapshotHolder(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	r, now := openRemote(t, pool(Options{}), s.URL(repo), ofNamespace("team-a", 1)), time.Now()
	_, err := r.Look(t.Context(), web(0), now)
	must(t, err)
	r.markUsedAt(now)
	h := snapshotHolder{r}
	used, size := h.Retained()
	if diff := cmp.Diff([]any{"team-a", now, r.snapshot.Size()}, []any{h.Payer(), used, size}); diff != "" {
		t.Errorf("A repository retains the snapshot of its last look, at the cost of its namespace.\nPayer(), Retained(): -want, +got:\n%s", diff)
	}
	h.Drop()
	if _, size := h.Retained(); size != 0 || r.snapshot != nil {
		t.Errorf("A repository whose snapshot was dropped retains none.\nRetained(): %d bytes", size)
	}
}
