package capt

import (
	"testing"
)

func TestLife(t *testing.T) {
	t.Parallel()
	l := newLife(t, "life")
	l.playCreated()
	l.playNetworkFirst()
	l.terraformFails()
	l.infrastructureReady()
	l.endpointIsURL()
	l.emptyKubeconfig()
	first := l.becomesReady()
	l.changeIsIgnored()
	l.playDeleted()
	l.bornAgain(first)
}

// TestFlaps is a life of its own: a flapping condition is written seldom, and so is the next condition.
func TestFlaps(t *testing.T) {
	t.Parallel()
	l := newLife(t, "flaps")
	l.playBuilt()
	l.playFlaps()
}

// TestLeftBehind has an old failure that stays in the status, and a paused cluster.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	l := newLife(t, "leftbehind")
	l.playBuilt()
	l.failureStays()
	l.playPaused()
}
