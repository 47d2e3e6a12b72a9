package shares

import (
	"context"
	"testing"
	"testing/synctest"
)

func acquire(t *testing.T, p *Places, at Place) func() {
	t.Helper()
	free, err := p.Acquire(t.Context(), at)
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
	held := acquire(t, p, hostile)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 10 {
		go func() {
			_, err := p.Acquire(ctx, hostile)
			ended <- err
		}()
	}
	free := acquire(t, p, good) // It does not wait for the other namespace.
	synctest.Wait()             // All of them wait.
	if !p.IsWanted(good) {
		t.Error("The host is wanted by a namespace that waits.\nIsWanted(): want true")
	}
	if p.IsWanted(hostile) {
		t.Error("A namespace that waits for itself is not another one.\nIsWanted(): want false")
	}
	cancel()
	for range 10 {
		if err := <-ended; err == nil {
			t.Error("Who waits is told when the context ends.\nAcquire(...): want an error")
		}
	}
	free()
	held()
	held() // Once more gives back nothing.
	if !p.IsIdle() {
		t.Error("Places that were given back, and requests that ended, are forgotten.\nIsIdle(): want true")
	}
}
