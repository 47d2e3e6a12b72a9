package notification

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBackoff posts to a receiver that is down for a minute, with a clock of its own: each wait is twice the one before, and none is longer than five
// minutes.
func TestBackoff(t *testing.T) {
	b, now, a := NewBackoff(), clock(), Attempt{ID: "u1.1.6.RolledBack", Receiver: "r1"}
	var waits []time.Duration
	for range 11 {
		first := b.Fail(a, now)
		if first != (len(waits) == 0) {
			t.Errorf("Fail(...): the first failure is reported once, but failure %d says %t", len(waits)+1, first)
		}
		wait := b.Remaining(a, now)
		waits, now = append(waits, wait/time.Second), now.Add(wait)
		if left := b.Remaining(a, now); left != 0 {
			t.Errorf("Remaining(...): %s are left when the wait is over", left)
		}
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}, waits); diff != "" {
		t.Errorf("seconds between posts: -want, +got:\n%s", diff)
	}
	if b.Fail(a, now); b.Remaining(Attempt{ID: a.ID, Receiver: "r2"}, now) != 0 {
		t.Error("Remaining(...): a receiver waits for another one")
	}
	b.Forget(a)
	if b.Remaining(a, now) != 0 || len(b.waits) != 0 {
		t.Error("Forget(...): the attempt is known still")
	}
}
