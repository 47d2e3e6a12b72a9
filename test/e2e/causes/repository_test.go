package causes

import (
	"testing"
)

// TestRepository breaks the connection to the repository, or its content.
func TestRepository(t *testing.T) {
	t.Parallel()
	playAll(t, repositoryStories())
}
