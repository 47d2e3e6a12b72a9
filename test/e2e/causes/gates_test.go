package causes

import (
	"testing"
)

// TestGateCauses has missing and bad measurements.
func TestGateCauses(t *testing.T) {
	t.Parallel()
	playStories(t, gateStories())
}
