package causes

import (
	"testing"
)

// TestGates has missing and bad measurements.
func TestGates(t *testing.T) {
	t.Parallel()
	playAll(t, gateStories())
}
