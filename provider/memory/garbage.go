package memory

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// collectInterval is the interval until a reservation that waits collects garbage for the first time: objects count until they are collected. It doubles
	// up to maxCollectInterval, since a collection costs processor time whether it frees anything or not.
	collectInterval, maxCollectInterval = time.Second, 16 * time.Second

	// limitInterval is the interval in which the memory limit of the process follows its use.
	limitInterval = 250 * time.Millisecond

	// spareBytes is the smallest room for new objects between two collections. livePerRuntimeByte is the number of bytes of objects for each byte that
	// the runtime needs itself.
	spareBytes         = 64 * mebibyte
	livePerRuntimeByte = 8

	// limitStep is the size of the steps in which the memory limit changes.
	limitStep = 8 * mebibyte
)

// collectGarbage collects garbage unless that was done since a number of collections, and returns the new number: of many reservations that wait, one collects.
func collectGarbage(since uint64) uint64 {
	if countCollections() == since {
		runtime.GC()
	}
	return countCollections()
}

// countCollections returns the number of collections of garbage.
func countCollections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A Limiter keeps the garbage small that peers cause. By default the Go runtime lets the heap grow to twice the size of its objects, so that each byte of an
// answer would take two. A Limiter lets only the objects of the provider itself double.
type Limiter struct{}

// NeedLeaderElection returns false: each replica has memory.
func (Limiter) NeedLeaderElection() bool { return false }

// Start sets the memory limit of the process until the context ends, unless GOMEMLIMIT has set it. It returns nil.
func (Limiter) Start(ctx context.Context) error {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		<-ctx.Done()
		return nil
	}
	t := time.NewTicker(limitInterval)
	defer t.Stop()
	current := int64(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if next := memoryLimit(liveHeapBytes(), Used()); next != current {
			debug.SetMemoryLimit(next)
			current = next
		}
	}
}

// memoryLimit returns the memory limit of a process: twice its own objects, and once the memory of the account. The account may count memory that is reserved
// and not used yet, and objects that became garbage since the last collection, so the limit leaves room between two collections in any case.
func memoryLimit(live, used int64) int64 {
	own := max(live-used, 0)
	limit := max(2*own+used, live) + live/livePerRuntimeByte + spareBytes
	return (limit + limitStep - 1) / limitStep * limitStep
}

// liveHeapBytes returns the size of the objects that the last collection found.
func liveHeapBytes() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(min(sample[0].Value.Uint64(), math.MaxInt64)) //nolint:gosec // It is at most that.
}
