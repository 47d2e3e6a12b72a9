package budget

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// A list of refs that comes in steps of 64 KiB, as often as the test says.
type steppedList struct {
	meter *ListMeter
	err   chan error
	read  int
}

func newSteppedList(ctx context.Context, b *Budget, bytes int) *steppedList {
	ctx, m := WithListMeter(ctx, b)
	l := &steppedList{meter: m, err: make(chan error, 1)}
	go func() {
		count := CountOf(ctx)
		for l.read = 0; l.read < bytes; l.read += 64 << 10 {
			if err := count(64 << 10); err != nil {
				l.err <- err
				return
			}
		}
		l.err <- nil
	}()
	return l
}

// TestLargeListsTakeTurns lists the refs of forty hostile repositories of one namespace, and of repositories of others.
func TestLargeListsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		var hostile []*steppedList
		for range 40 {
			hostile = append(hostile, newSteppedList(t.Context(), b.ForNamespace("hostile"), 8<<20))
		}
		synctest.Wait()
		modest := newSteppedList(t.Context(), b.ForNamespace("hostile"), largeList)
		large := newSteppedList(t.Context(), b.ForNamespace("team-a"), 8<<20)
		synctest.Wait()
		if diff := cmp.Diff([]error{nil, nil}, []error{<-modest.err, <-large.err}); diff != "" {
			t.Errorf("A modest list, and a list of another namespace, do not wait.\ncountBytes(...): -want, +got:\n%s", diff)
		}
		total := 0
		for _, l := range hostile {
			total += l.read
		}
		if limit := 8<<20 + 39*largeList; total > limit {
			t.Errorf("One large list of a namespace is read at a time.\nread: want at most %d bytes, got %d", limit, total)
		}
		for range hostile { // Each list ends, and gives its place to the next list.
			for _, l := range hostile {
				if len(l.err) > 0 && <-l.err == nil {
					l.meter.Free()
				}
			}
			synctest.Wait()
		}
		for _, l := range hostile {
			if l.read < 8<<20 {
				t.Fatalf("Each list has its turn.\nread: want %d bytes, got %d", 8<<20, l.read)
			}
		}
	})
}

// TestSlowListEnds has a server send a large list drop by drop.
func TestSlowListEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := WithListMeter(t.Context(), New())
		began, err := time.Now(), error(nil)
		for err == nil && time.Since(began) < time.Minute {
			err = m.countListBytes(t.Context(), largeList)
			<-time.After(time.Second)
		}
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > listTime+3*time.Second {
			t.Errorf("A large list gives its place back in time.\ncountBytes(...): got %v after %s", err, took)
		}
	})
}
