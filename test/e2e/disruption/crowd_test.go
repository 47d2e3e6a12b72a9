package disruption

import (
	"testing"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestCrowdOutlivesKills makes deployments of both shapes at once, kills provider and function when some have their commits, and starts them.
func TestCrowdOutlivesKills(t *testing.T) {
	rounds := soak.Rounds(t, 12, 200)
	s := scene.New(t, cp, "edge1")
	all := newDeployments(s, rounds)
	for _, o := range all {
		s.Apply(o)
	}
	s.Until("some deployments have their commits", patience.Limit, func() bool { return len(s.Commits()) >= rounds/2 })
	cp.KillProvider()
	if err := cp.RestartFunction(t.Context()); err != nil {
		t.Fatal(err)
	}
	startProvider(t)
	for _, o := range all {
		s.Succeed(o)
	}
	wantOneCommitEach(s, len(all))
}
