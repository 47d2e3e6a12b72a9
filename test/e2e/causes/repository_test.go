package causes

import (
	"testing"
)

// TestRepository breaks the way to the repository, or what is in it.
func TestRepository(t *testing.T) {
	t.Parallel()
	playAll(t, repositoryStories())
}
