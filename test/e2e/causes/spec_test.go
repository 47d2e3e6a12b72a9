package causes

import (
	"testing"
)

// TestSpec names missing or forbidden objects.
func TestSpec(t *testing.T) {
	t.Parallel()
	playAll(t, specStories())
}
