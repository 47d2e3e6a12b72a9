package causes

import (
	"testing"
)

// TestGates lets nothing be measured, and something bad.
func TestGates(t *testing.T) {
	t.Parallel()
	playAll(t, gateStories())
}
