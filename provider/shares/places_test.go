package shares

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func acquire(t *testing.T, p *Places, place Place) func() {
	t.Helper()
	free, err := p.Acquire(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	return free
}

func TestPlaces(t *testing.T) { synctest.Test(t, testPlaces) }

func testPlaces(t *testing.T) {
	t.Helper()
	p := NewPlaces(Limits{PerHost: 2, PerNamespaceAtHost: 1})
	hostile, good := Place{Host: "h", Namespace: "hostile"}, Place{Host: "h", Namespace: "good"}
	release := acquire(t, p, hostile)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 10 {
		go func() {
			_, err := p.Acquire(ctx, hostile)
			ended <- err
		}()
	}
	free := acquire(t, p, good) // The operation does not wait for the other namespace.
	synctest.Wait()             // All operations of the namespace wait.
	if !p.queue.IsWanted(good, countAll) {
		t.Error("The host is wanted by a namespace that waits.\nIsWanted(): want true")
	}
	if p.queue.IsWanted(hostile, countAll) {
		t.Error("A namespace that waits for itself is not another namespace.\nIsWanted(): want false")
	}
	cancel()
	for range 10 {
		if err := <-ended; err == nil {
			t.Error("A waiting caller gets an error when its context ends.\nAcquire(...): want an error")
		}
	}
	free()
	release()
	release() // Once more gives back nothing.
	if !p.IsIdle() {
		t.Error("Places that were given back, and requests that ended, are forgotten.\nIsIdle(): want true")
	}
}

// TestFreePlaceIsGiven has a context that has ended, as the context of a slow caller may have.
func TestFreePlaceIsGiven(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		free, err := NewPlaces(Limits{PerHost: 1}).Acquire(ended, Place{Host: "h", Namespace: "a"})
		if err != nil {
			t.Fatalf("A place that is free is given to each caller.\nAcquire(...): %v", err)
		}
		free()
	}
}

// TestTurnIsKept lets a namespace wait in vain, and then others come.
func TestTurnIsKept(t *testing.T) {
	cases := map[string]struct {
		reason string
		// cancelPlaceWait waits in vain.
		giveUp func(t *testing.T, p *Places)
		want   string
	}{
		"GaveUp": {
			reason: "A namespace that waited in vain comes before later namespaces.",
			giveUp: func(t *testing.T, p *Places) {
				t.Helper()
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := p.Acquire(ended, Place{Host: "h", Namespace: "patient"}); err == nil {
					t.Fatal("want no place")
				}
			},
			want: "patient other ",
		},
		"Tried": {
			reason: "A namespace that found no free place comes before later namespaces.",
			giveUp: func(t *testing.T, p *Places) {
				t.Helper()
				if _, ok := p.TryAcquire(Place{Host: "h", Namespace: "patient"}); ok {
					t.Fatal("want no place")
				}
			},
			want: "patient other ",
		},
		"Never": {reason: "Without a turn of before, the first that waits comes first.", giveUp: func(*testing.T, *Places) {}, want: "other patient "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPlaces(Limits{PerHost: 1})
				free := acquire(t, p, Place{Host: "h", Namespace: "first"})
				tc.giveUp(t, p)
				got := make(chan string, 2)
				for _, namespace := range []string{"other", "patient"} {
					go func() {
						leave, err := p.Acquire(t.Context(), Place{Host: "h", Namespace: namespace})
						if err == nil {
							got <- namespace
							leave()
						}
					}()
					synctest.Wait()
				}
				free()
				order := <-got + " " + <-got + " "
				synctest.Wait()
				if diff := cmp.Diff(tc.want, order); diff != "" {
					t.Errorf("%s\nAcquire(...): -want, +got:\n%s", tc.reason, diff)
				}
				if !p.IsIdle() {
					t.Error("Turns of namespaces are forgotten once nothing waits.\nIsIdle(): want true")
				}
			})
		})
	}
}

func TestTurnsThatAreKeptAreBounded(t *testing.T) {
	q := NewQueue[int](Limits{PerHost: 1})
	q.Add(-1, "h", "holder")
	if _, _, ok := q.Next(); !ok {
		t.Fatal("want a place")
	}
	for n := range 3 * maxTurns {
		q.Add(n, "h", fmt.Sprint("team-", n))
		q.GiveUp(n)
	}
	if n := len(q.hosts["h"].turns); n > maxTurns+1 {
		t.Errorf("A host remembers the turns of so many namespaces only.\nturns: want at most %d, got %d", maxTurns+1, n)
	}
}

func TestWantedByWaitingNamespaces(t *testing.T) {
	q := NewQueue[int](Limits{PerHost: 1})
	q.Add(0, "h", "holder")
	place := Place{Host: "h", Namespace: "holder"}
	if _, _, ok := q.Next(); !ok {
		t.Fatal("want a place")
	}
	q.Add(1, "h", "team-a")
	waits := q.IsWanted(place, countAll)
	q.GiveUp(1)
	if diff := cmp.Diff([]bool{true, false}, []bool{waits, q.IsWanted(place, countAll)}); diff != "" {
		t.Errorf("A namespace that keeps its turn and does not wait wants nothing.\nIsWanted(...): -want, +got:\n%s", diff)
	}
}

// TestNamespacesTakeTurnsTogether lets a namespace wait for as many hosts as it has, and another one for a single host.
func TestNamespacesTakeTurnsTogether(t *testing.T) {
	cases := map[string]struct {
		reason string
		// cancelPlaceWait lets the other namespace wait in vain once before.
		giveUp bool
	}{
		"First": {reason: "A namespace with many hosts has one turn, as a namespace with one host has."},
		"Again": {reason: "A namespace that waited in vain keeps its turn.", giveUp: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPlaces(Limits{Together: 2, PerNamespace: 2})
				began, end := make(chan string, 200), make(chan struct{})
				wait := func(ctx context.Context, host, namespace string) {
					go func() {
						free, err := p.Acquire(ctx, Place{Host: host, Namespace: namespace})
						if err != nil {
							return
						}
						began <- namespace
						<-end
						free()
					}()
					synctest.Wait()
				}
				wait(t.Context(), "a", "first")
				wait(t.Context(), "b", "first")
				for n := range 50 {
					wait(t.Context(), fmt.Sprint("hostile-", n), hostileNamespaces[n%len(hostileNamespaces)])
				}
				if tc.giveUp {
					short, cancel := context.WithCancel(t.Context())
					wait(short, "good", "good")
					cancel()
					synctest.Wait()
				}
				wait(t.Context(), "good", "good")
				turns := 0
				for namespace := ""; namespace != "good"; turns++ {
					if len(began) == 0 {
						end <- struct{}{}
						synctest.Wait()
					}
					namespace = <-began
				}
				if limit := 2 + len(hostileNamespaces) + 1; turns > limit {
					t.Errorf("%s\nAcquire(...): the namespace began as number %d, want at most %d", tc.reason, turns, limit)
				}
				close(end)
				synctest.Wait()
				if !p.IsIdle() {
					t.Error("Places that were given back are forgotten.\nIsIdle(): want true")
				}
			})
		})
	}
}

// countAll counts each waiter.
func countAll[T any](T) bool { return true }

// hostileNamespaces are namespaces with many hosts.
var hostileNamespaces = []string{"hostile", "malicious", "greedy"}
