package causes

import (
	"testing"
)

// TestSpecCauses names missing or forbidden objects.
func TestSpecCauses(t *testing.T) {
	t.Parallel()
	playStories(t, specStories())
}
