package deployment

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Pinned is the Blueprint that a deployment stays with: that of its revision, where a user approves updates, and where
// the spec still asks for a Blueprint of that name in that channel, or for that version of it. It is nil when there is none: a
// change of the spec is its author's own act, and followed at once.
func Pinned(b *ledger.BlueprintReference, choice deploymentv1alpha1.BlueprintChoice, blueprintName string) *ledger.BlueprintReference {
	if b == nil || choice.UpdatePolicy != deploymentv1alpha1.UpdateManual {
		return nil
	}
	if choice.Version != "" {
		return pinnedVersion(b, blueprintName+"-"+choice.Version)
	}
	if b.Channel != choice.Channel || !isVersionOf(b.Name, blueprintName) {
		return nil
	}
	return b
}

// pinnedVersion returns the Blueprint if it was selected by its version and has the name, or nil.
func pinnedVersion(b *ledger.BlueprintReference, name string) *ledger.BlueprintReference {
	if b.Channel != "" || b.Name != name {
		return nil
	}
	return b
}

// isVersionOf is true for the name of an object that is a version of a Blueprint. Names have no dots, and versions begin with a number
// that a dot follows, so that "web" has no version "web-1-2.0.0".
func isVersionOf(object, blueprint string) bool {
	head, _, ok := strings.Cut(object, ".")
	i := strings.LastIndex(head, "-")
	return ok && i > 0 && head[:i] == blueprint
}

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

// SlotOf returns the slot of a deployment in a spread, for a version of the renderer. A spread of 0 is all one slot.
func SlotOf(c rolloutv1alpha1.ClaimReference, renderer int32, spread time.Duration) Slot {
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
