package causes

import (
	"testing"
)

// TestGates lets the measurements be missing, and bad.
func TestGates(t *testing.T) {
	t.Parallel()
	playAll(t, gateStories())
}
