package snapshotcache

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/memory"
)

const hostile = "hostile"

// A holder retains a snapshot of a size. Its last use was some minutes ago.
type holder struct {
	payer   string
	minutes int
	size    int
}

func (h *holder) Payer() string { return h.payer }

func (h *holder) Retained() (time.Time, int) {
	return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(-time.Duration(h.minutes) * time.Minute), h.size
}

func (h *holder) Drop() { h.size = 0 }

func TestTrim(t *testing.T) {
	const mebibyte = 1 << 20
	cases := map[string]struct {
		reason  string
		holders []holder
		drop    func(all []Holder)
		// want are the sizes of the snapshots that remain, in MiB.
		want []int
	}{
		"LeastRecentlyUsed": {
			reason:  "The least recently used snapshot is dropped.",
			holders: []holder{{payer: "team-a", minutes: 1, size: 16}, {payer: "team-a", minutes: 2, size: 16}, {payer: "team-a", minutes: 3, size: 16}},
			drop:    Trim, want: []int{16, 16, 0},
		},
		"LargestNamespace": {
			reason: "A namespace with many snapshots loses its own, and not older snapshots of others.",
			holders: []holder{
				{payer: "team-a", minutes: 4, size: 20},
				{payer: "team-b", minutes: 5, size: 20},
				{payer: hostile, minutes: 3, size: 16},
				{payer: hostile, minutes: 2, size: 16},
			},
			drop: Trim, want: []int{20, 20, 0, 16},
		},
		"Administrators": {
			reason: "Administrators have a limit of their own, beside the snapshots of namespaces.",
			holders: []holder{
				{minutes: 1, size: 32}, {minutes: 2, size: 32}, {minutes: 3, size: 32}, {minutes: 4, size: 32}, {payer: "team-a", minutes: 5, size: 32},
			},
			drop: Trim, want: []int{32, 32, 32, 0, 32},
		},
		"LargeBesideSmall": {
			reason: "A large snapshot is retained beside small ones, and neither drop the other.",
			holders: []holder{
				{payer: "team-a", minutes: 4, size: 16},
				{payer: "team-a", minutes: 3, size: 60},
				{payer: "team-a", minutes: 2, size: 60},
				{payer: "team-a", minutes: 1, size: 16},
			},
			drop: Trim, want: []int{16, 0, 60, 16},
		},
		"DropLarge": {
			reason:  "A namespace that needs the memory for an answer loses its large snapshots alone.",
			holders: []holder{{payer: "team-a", minutes: 2, size: 16}, {payer: "team-a", minutes: 1, size: 60}},
			drop:    DropLarge, want: []int{16, 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := []Holder{}
			for i := range tc.holders {
				tc.holders[i].size *= mebibyte
				all = append(all, &tc.holders[i])
			}
			tc.drop(all)
			got := []int{}
			for _, h := range tc.holders {
				got = append(got, h.size/mebibyte)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nsizes in MiB: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCacheMakesRoomForAnswers compares the limits of a namespace that waits for a large answer with those of another one.
func TestCacheMakesRoomForAnswers(t *testing.T) {
	free, ok := memory.TryReserveLarge("holder")
	if !ok {
		t.Fatal("want the lane")
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		if leave, err := memory.ReserveLarge(ctx, hostile); err == nil {
			leave()
		}
	}()
	for !memory.AwaitsLarge(hostile) {
		<-time.After(time.Millisecond)
	}
	if diff := cmp.Diff([]int{0, largeBytes}, []int{namespaceLimits(hostile).large, namespaceLimits("team-a").large}); diff != "" {
		t.Errorf("A namespace that waits for a large answer retains no large snapshot.\nlimitsOf(...): -want, +got:\n%s", diff)
	}
	cancel()
	<-waited
	free()
}
