package notification

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/fetch"
)

// TestBackoff posts to a receiver that is down for a minute, with a clock of its own: each wait is twice the previous wait, and none is longer than
// five minutes.
func TestBackoff(t *testing.T) {
	b, now, a := NewBackoff(), clock(), Attempt{ID: "u1.1.6.RolledBack", Receiver: "r1"}
	var waits []time.Duration
	for range 11 {
		first := b.Fail(a, fetch.Error(fetch.ProblemSilent), now)
		if first != (len(waits) == 0) {
			t.Errorf("Fail(...): the first failure is reported once, but failure %d says %t", len(waits)+1, first)
		}
		wait, isOutage := b.Remaining(a, now)
		if !isOutage {
			t.Errorf("Remaining(...): failure %d is of a receiver that does not answer, and other outcomes are posted to it", len(waits)+1)
		}
		waits, now = append(waits, wait/time.Second), now.Add(wait)
		if left, _ := b.Remaining(a, now); left != 0 {
			t.Errorf("Remaining(...): %s are left when the wait is over", left)
		}
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}, waits); diff != "" {
		t.Errorf("seconds between posts: -want, +got:\n%s", diff)
	}
	b.Fail(a, &RejectedError{Status: http.StatusBadRequest}, now)
	if _, isOutage := b.Remaining(a, now); isOutage {
		t.Error("Remaining(...): a receiver that refuses one outcome gets no other outcome")
	}
	if left, _ := b.Remaining(Attempt{ID: a.ID, Receiver: "r2"}, now); left != 0 {
		t.Error("Remaining(...): a receiver waits for another receiver")
	}
	b.End(a)
	if left, _ := b.Remaining(a, now); left != 0 || !b.HasEnded(a) {
		t.Error("End(...): the attempt goes on")
	}
	b.KeepOnly([]Attempt{a})
	if !b.HasEnded(a) {
		t.Error("KeepOnly(...): an attempt that is kept is forgotten")
	}
	b.KeepOnly(nil)
	if b.HasEnded(a) || len(b.waits) != 0 {
		t.Error("KeepOnly(...): the attempt is known still")
	}
}
