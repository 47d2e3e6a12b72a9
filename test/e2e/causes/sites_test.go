package causes

import (
	"testing"
)

// TestEngine breaks the engine of a Site before the first revision comes.
func TestEngine(t *testing.T) {
	t.Parallel()
	tellRemote(t, engineStories())
}

// TestCluster breaks the way to the cluster of a Site.
func TestCluster(t *testing.T) {
	t.Parallel()
	tellRemote(t, clusterStories())
}
