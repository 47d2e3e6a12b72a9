package memory

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// smallPool has 10 bytes for each namespace, and 90 bytes for all, 50 of them for one namespace. Large answers have 20 bytes.
func smallPool() *pool {
	return newPool(limits{namespace: 60, guaranteed: 10, shared: 90, large: 20}, func(uint64) uint64 { return 0 })
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
		"Full":       {reason: "A namespace waits while others use all memory.", held: map[string]int64{"a": 60, "c": 50}, namespace: "b", bytes: 11, waits: true},
		"Guaranteed": {reason: "A namespace has some memory although others use all of it.", held: map[string]int64{"a": 60, "c": 50}, namespace: "b", bytes: 10},
		"Overdrawn":  {reason: "Memory that is held beyond the share counts.", held: map[string]int64{"a": 200}, namespace: "a", bytes: 1, waits: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := smallPool()
			for _, namespace := range slices.Sorted(maps.Keys(tc.held)) {
				p.holdMemoryBytes(namespace, tc.held[namespace])
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			release, err := p.reserveMemory(ended, newReservation(tc.namespace, tc.bytes))
			if waits := err != nil; waits != tc.waits {
				t.Fatalf("\n%s\nreserve(...): want a wait %t, got error %v", tc.reason, tc.waits, err)
			}
			if tc.waits {
				if _, ok := p.tryReserveMemory(newReservation(tc.namespace, tc.bytes)); ok {
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

// wants adds reservations, such as "a 40", or "a large" for a large answer, and returns them in their order.
func (p *pool) wants(t *testing.T, texts ...string) []*reservation {
	t.Helper()
	out := []*reservation{}
	for _, text := range texts {
		namespace, size, _ := strings.Cut(text, " ")
		r := newLargeReservation(namespace)
		if bytes, err := strconv.ParseInt(size, 10, 64); err == nil {
			r = newReservation(namespace, bytes)
		}
		p.mu.Lock()
		p.addReservation(r)
		p.mu.Unlock()
		out = append(out, r)
	}
	return out
}

// givenOf says of each reservation whether it has room.
func givenOf(all []*reservation) string {
	out := []string{}
	for _, r := range all {
		select {
		case <-r.given:
			out = append(out, "room")
		default:
			out = append(out, "waits")
		}
	}
	return strings.Join(out, "/")
}

// TestReservationsKeepTheirOrder lets reservations come one after the other, and then gives back memory of a namespace.
func TestReservationsKeepTheirOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		held   map[string]int64
		wants  []string
		before string
		// freed bytes of a namespace.
		freed map[string]int64
		after string
	}{
		"Own": {
			reason: "A small reservation waits behind a larger one of its namespace, which it would delay for ever.",
			held:   map[string]int64{"a": 30}, wants: []string{"a 40", "a 15", "a 15"}, before: "waits/waits/waits",
			freed: map[string]int64{"a": 20}, after: "room/waits/waits",
		},
		"Shared": {
			reason: "A small reservation of another namespace takes no shared memory for which an earlier one waits.",
			held:   map[string]int64{"a": 60, "c": 40}, wants: []string{"b 40", "d 15"}, before: "waits/waits",
			freed: map[string]int64{"c": 20}, after: "room/waits",
		},
		"Guaranteed": {
			reason: "The guaranteed memory of a namespace delays no other one, and waits for none.",
			held:   map[string]int64{"a": 60, "c": 50}, wants: []string{"b 40", "d 10", "e 10"}, before: "waits/room/room",
			freed: map[string]int64{"a": 30}, after: "room/room/room",
		},
		"Itself": {
			reason: "A namespace that waits for its own memory delays no other one.",
			held:   map[string]int64{"a": 60}, wants: []string{"a 40", "b 40"}, before: "waits/room",
			freed: map[string]int64{"a": 60}, after: "room/room",
		},
		"Turns": {
			reason: "A namespace with many reservations gets room for one of them, and then another namespace does.",
			held:   map[string]int64{"x": 60, "y": 50}, wants: []string{"a 25", "a 25", "b 25"}, before: "waits/waits/waits",
			freed: map[string]int64{"x": 40}, after: "room/waits/room",
		},
		"LargeAnswers": {
			reason: "One large answer is read at a time, and the namespaces take turns.",
			wants:  []string{"a large", "a large", "a large", "b large"}, before: "room/waits/waits/waits",
			after: "room/waits/waits/waits",
		},
		"BesideLarge": {
			reason: "The memory of a namespace leaves room for a large answer that it awaits, and no reservation delays that one.",
			wants:  []string{"b large", "a large", "a 40", "a 1"}, before: "room/waits/room/waits", after: "room/waits/room/waits",
		},
		"ManyBesideLarge": {
			reason: "The guaranteed memory of other namespaces delays no large answer.",
			held:   map[string]int64{"b": 10, "c": 10, "d": 10, "e": 10, "f": 10, "g": 10, "h": 10, "i": 10, "j": 10, "k": 10},
			wants:  []string{"a large"}, before: "room", after: "room",
		},
		"LargeWaitsForItself": {
			reason: "A large answer to a namespace that holds too much lets another namespace have its turn.",
			held:   map[string]int64{"a": 50}, wants: []string{"a large", "b large"}, before: "waits/room",
			freed: map[string]int64{"a": 20}, after: "waits/room",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := smallPool()
			for namespace, bytes := range tc.held {
				p.holdMemoryBytes(namespace, bytes)
			}
			all := p.wants(t, tc.wants...)
			before := givenOf(all)
			for namespace, bytes := range tc.freed {
				p.holdMemoryBytes(namespace, -bytes)
			}
			if diff := cmp.Diff([]string{tc.before, tc.after}, []string{before, givenOf(all)}); diff != "" {
				t.Errorf("\n%s\nadd(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLargeAnswersTakeTurns ends one large answer after the other.
func TestLargeAnswersTakeTurns(t *testing.T) {
	p := smallPool()
	all, order := p.wants(t, "a large", "a large", "b large", "a large", "c large"), []string{}
	if diff := cmp.Diff(int64(20), p.usedBytes()); diff != "" {
		t.Errorf("\nA large answer that waits holds no memory.\nusedBytes(): -want, +got:\n%s", diff)
	}
	for len(all) > 0 {
		i := slices.IndexFunc(all, func(r *reservation) bool { return givenOf([]*reservation{r}) == "room" })
		if i < 0 {
			t.Fatalf("\nA large answer is read once the one before it ended.\nadd(...): %d wait", len(all))
		}
		order = append(order, all[i].namespace)
		p.newReleaseFunc(all[i])()
		all = slices.Delete(all, i, i+1)
	}
	if diff := cmp.Diff("aabca", strings.Join(order, "")); diff != "" {
		t.Errorf("\nNamespaces take turns with large answers.\nadd(...): -want, +got:\n%s", diff)
	}
	if !p.waiting.IsEmpty() || !p.large.IsEmpty() || p.usedBytes()+p.shared != 0 {
		t.Errorf("\nA pool that nothing uses is empty.\nreleaseOf(...): %d bytes, %d of them shared", p.usedBytes(), p.shared)
	}
}

func TestLargeIsWanted(t *testing.T) {
	cases := map[string]struct {
		reason string
		held   int64
		wants  string
		want   bool
	}{
		"Other": {reason: "The memory is wanted while another namespace waits for it.", wants: "b large", want: true},
		"Own":   {reason: "A namespace that waits for its own answer wants nothing of another one.", wants: "a large"},
		"Full":  {reason: "A namespace that waits for memory of its own could not use the turn.", held: 50, wants: "b large"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := smallPool()
			p.holdMemoryBytes("b", tc.held)
			p.wants(t, "a large", tc.wants)
			if got := p.isLargeWanted("a"); got != tc.want {
				t.Errorf("\n%s\nisLargeWanted(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
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
				p.holdMemoryBytes("a", 60)
				time.AfterFunc(tc.wait, func() { p.holdMemoryBytes("a", -60) })
				if _, err := p.reserveMemory(t.Context(), newReservation("a", 60)); err != nil {
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
	const bytes = 10 * (sharedBytes + guaranteedBytes)
	baseline := Used()
	CountBounded(bytes)
	defer CountBounded(-bytes)
	if got := Used() - baseline; got < bytes/2 {
		t.Errorf("\nMemory that has its own bound counts in the process.\nUsed(): want %d bytes more, got %d", bytes, got)
	}
	for _, namespace := range []string{"", "team-with-clusters"} {
		release, ok := TryReserveLarge(namespace)
		if !ok {
			t.Errorf("\nNo answer waits for memory that has its own bound.\nTryReserveLarge(%q): want room", namespace)
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
	release, err := ReserveLarge(ctx, namespace)
	if err != nil {
		t.Fatalf("\nA reservation that waits collects the garbage that has its memory.\nReserveLarge(...): %v", err)
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
