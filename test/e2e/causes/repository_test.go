package causes

import (
	"testing"
)

// TestRepositoryCauses breaks the connection to the repository, or its content.
func TestRepositoryCauses(t *testing.T) {
	t.Parallel()
	playStories(t, repositoryStories())
}
