package causes

import (
	"testing"
)

// TestSpec names what does not exist, or may not be used.
func TestSpec(t *testing.T) {
	t.Parallel()
	playAll(t, specStories())
}
