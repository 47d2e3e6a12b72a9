package memory

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// smallPool has room for 100 bytes, 60 of them for one namespace, and 10 for each although it is full.
func smallPool() *pool {
	return newPool(limits{all: 100, namespace: 60, guaranteed: 10}, func(uint64) uint64 { return 0 })
}

func TestReservationWaits(t *testing.T) {
	cases := map[string]struct {
		reason string
		// held bytes of namespaces, and the namespace and the bytes of the reservation.
		held      map[string]int64
		namespace string
		bytes     int64
		waits     bool
	}{
		"Empty":      {reason: "A namespace without memory has all of its share.", namespace: "a", bytes: 60},
		"OwnShare":   {reason: "A namespace that uses its share waits for itself.", held: map[string]int64{"a": 50}, namespace: "a", bytes: 11, waits: true},
		"Other":      {reason: "Another namespace does not wait for it.", held: map[string]int64{"a": 60}, namespace: "b", bytes: 40},
		"Full":       {reason: "A namespace waits while others use all memory.", held: map[string]int64{"a": 60, "c": 40}, namespace: "b", bytes: 11, waits: true},
		"Guaranteed": {reason: "A namespace has some memory although others use all of it.", held: map[string]int64{"a": 60, "c": 40}, namespace: "b", bytes: 10},
		"Overdrawn":  {reason: "Memory that is held beyond the share counts.", held: map[string]int64{"a": 200}, namespace: "a", bytes: 1, waits: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := smallPool()
			for _, namespace := range slices.Sorted(maps.Keys(tc.held)) {
				p.hold(namespace, tc.held[namespace])
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			release, err := p.reserve(ended, tc.namespace, tc.bytes)
			if waits := err != nil; waits != tc.waits {
				t.Fatalf("\n%s\nreserve(...): want a wait %t, got error %v", tc.reason, tc.waits, err)
			}
			if tc.waits {
				if _, ok := p.tryReserve(tc.namespace, tc.bytes); ok {
					t.Errorf("\n%s\ntryReserve(...): want no room", tc.reason)
				}
				return
			}
			release()
			release()
			if diff := cmp.Diff(tc.held, p.by, cmp.Transformer("Empty", emptyIfNil)); diff != "" {
				t.Errorf("\nA reservation gives its memory back once.\nby: -want, +got:\n%s", diff)
			}
		})
	}
}

func emptyIfNil(m map[string]int64) map[string]int64 {
	out := map[string]int64{}
	maps.Copy(out, m)
	return out
}

// TestLeastIsFirst lets three namespaces wait for memory that becomes free.
func TestLeastIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		p, order := smallPool(), make(chan string, 3)
		for namespace, bytes := range map[string]int64{"much": 50, "some": 30, "little": 20} {
			p.hold(namespace, bytes)
		}
		for _, namespace := range []string{"much", "some", "little"} {
			go func() {
				if _, err := p.reserve(t.Context(), namespace, 5); err == nil {
					order <- namespace
				}
			}()
			synctest.Wait()
		}
		got := []string{}
		for range 2 {
			p.hold("much", -5)
			got = append(got, <-order)
		}
		p.hold("much", -40)
		got = append(got, <-order)
		if diff := cmp.Diff("little some much", strings.Join(got, " ")); diff != "" {
			t.Errorf("\nThe namespace that uses the least is first.\nreserve(...): -want, +got:\n%s", diff)
		}
	})
}

// TestWaitCollectsRarely lets a reservation wait for a short time, and another one for a long time.
func TestWaitCollectsRarely(t *testing.T) {
	cases := map[string]struct {
		reason string
		wait   time.Duration
		want   int
	}{
		"Short": {reason: "A reservation that gets room soon collects no garbage.", wait: collectInterval / 2, want: 0},
		"Long":  {reason: "A reservation that waits for long collects garbage less and less often.", wait: time.Minute, want: 6},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Helper()
				p, collections := smallPool(), 0
				p.collect = func(uint64) uint64 { collections++; return 0 }
				p.hold("a", 60)
				time.AfterFunc(tc.wait, func() { p.hold("a", -60) })
				if _, err := p.reserve(t.Context(), "a", 60); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, collections); diff != "" {
					t.Errorf("\n%s\nreserve(...): collections: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestBoundedMemoryDelaysNothing counts more memory with a bound of its own than all namespaces may have.
func TestBoundedMemoryDelaysNothing(t *testing.T) {
	const bytes = 10 * tenantBytes
	baseline := Used()
	CountBounded(bytes)
	defer CountBounded(-bytes)
	if got := Used() - baseline; got < bytes/2 {
		t.Errorf("\nMemory that has its own bound counts in the process.\nUsed(): want %d bytes more, got %d", bytes, got)
	}
	for _, namespace := range []string{"", "team-with-clusters"} {
		release, ok := TryReserve(namespace, LargeBytes)
		if !ok {
			t.Errorf("\nNo answer waits for memory that has its own bound.\nTryReserve(%q, ...): want room", namespace)
			continue
		}
		release()
	}
}

// TestMemoryIsReturned drops an object that memory was counted for.
func TestMemoryIsReturned(t *testing.T) {
	const namespace = "team-a"
	object := &struct{ data [64]byte }{}
	HoldWhile(object, namespace, namespaceBytes)
	if _, ok := TryReserve(namespace, 1); ok {
		t.Error("\nMemory counts while an object is referred to.\nTryReserve(...): want no room")
	}
	runtime.KeepAlive(object)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release, err := Reserve(ctx, namespace, LargeBytes)
	if err != nil {
		t.Fatalf("\nA reservation that waits collects the garbage that has its memory.\nReserve(...): %v", err)
	}
	release()
}

func TestMemoryLimit(t *testing.T) {
	cases := map[string]struct {
		reason           string
		live, used, want int64
	}{
		"Rest":  {reason: "The provider's own objects may double.", live: 100 * mebibyte, want: 280 * mebibyte},
		"Peers": {reason: "The memory of peers counts once.", live: 200 * mebibyte, used: 100 * mebibyte, want: 392 * mebibyte},
		"Soon":  {reason: "Memory that the last collection did not see counts.", live: 40 * mebibyte, used: 100 * mebibyte, want: 176 * mebibyte},
		"Reserved": {
			reason: "The runtime's own memory takes nothing from the room for new objects, although all objects count as memory of peers.",
			live:   400 * mebibyte, used: 400 * mebibyte, want: 520 * mebibyte,
		},
		"Uneven": {reason: "The limit changes in steps.", live: 104*mebibyte + 1, want: 288 * mebibyte},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, memoryLimit(tc.live, tc.used)); diff != "" {
				t.Errorf("\n%s\nmemoryLimit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
