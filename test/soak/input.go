package soak

import (
	"runtime/metrics"
	"testing"
	"time"
)

// Bounds of one input of a fuzz target.
const (
	maxTime  = 10 * time.Second
	maxBytes = 256 << 20
)

// Input bounds the resources of one input of a fuzz target. It returns the function to defer. An input that hangs ends the process, and Go
// keeps it. An input that allocates too much in all fails: its memory at any time is less than that. Asking costs a microsecond.
func Input(t *testing.T) func() {
	t.Helper()
	hangs := time.AfterFunc(maxTime, func() { panic("an input takes longer than " + maxTime.String()) })
	baseline := allocatedBytes()
	return func() {
		t.Helper()
		hangs.Stop()
		if n := allocatedBytes() - baseline; n > maxBytes {
			t.Errorf("the input allocates %d bytes, more than %d", n, maxBytes)
		}
	}
}

// allocatedBytes returns how many bytes this process ever allocated.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
