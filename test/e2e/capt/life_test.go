package capt

import (
	"testing"
)

func TestLife(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "life")
	l.playCreated()
	l.playNetworkFirst()
	l.terraformFails()
	l.infrastructureReady()
	l.endpointIsURL()
	l.emptyKubeconfig()
	first := l.becomesReady()
	l.changeIsIgnored()
	l.playDeleted()
	l.recreateCluster(first)
}

// TestFlaps is a life of its own: a flapping condition is written seldom, and so is the next condition.
func TestFlaps(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "flaps")
	l.buildCluster()
	l.flapControlPlane()
}

// TestLeftBehind has an old failure that stays in the status, and a paused cluster.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "leftbehind")
	l.buildCluster()
	l.failureStays()
	l.pauseAndResume()
}
