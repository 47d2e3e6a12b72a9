// Package slot spreads a new version of the renderer over deployments: each takes it in its own part of the day. It is pure.
package slot

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Bounds of a slot: so many are in the spread, and none is too short for Crossplane to come by in it.
const (
	slots       = 144
	shortestRun = 5 * time.Minute
)

// A Slot is the part of each spread, such as of each day, in which one deployment takes a new renderer. It needs no memory, and no
// time to count from: it follows from who the deployment is, and which version the renderer has.
type Slot struct {
	spread, start, length time.Duration
}

// Of returns the slot of a deployment in a spread, for a version of the renderer. A spread of 0 is all one slot.
func Of(c rolloutv1alpha1.ClaimReference, renderer int32, spread time.Duration) Slot {
	length := max(spread/slots, shortestRun)
	n := max(1, spread/length)
	if n == 1 {
		return Slot{}
	}
	h := sha256.New()
	for _, part := range []string{c.APIGroup, c.Namespace, c.Name} {
		// A hash never fails.
		_, _ = h.Write([]byte(part + "\n"))
	}
	_, _ = h.Write(binary.BigEndian.AppendUint32(nil, uint32(renderer))) //nolint:gosec // A version is not negative.
	nth := binary.BigEndian.Uint64(h.Sum(nil)) % uint64(n)
	return Slot{spread: spread, start: time.Duration(nth) * length, length: length} //nolint:gosec // It is less than 144.
}

// Always is true for a slot that never ends.
func (s Slot) Always() bool { return s.spread == 0 }

// Wait returns the time from a moment until the slot. It is 0 inside of it.
func (s Slot) Wait(now time.Time) time.Duration {
	if s.Always() {
		return 0
	}
	offset := time.Duration(now.Unix()%int64(s.spread/time.Second)) * time.Second
	if offset >= s.start && offset < s.start+s.length {
		return 0
	}
	return (s.start - offset + s.spread) % s.spread
}
