package sites

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestCountersOverRestarts restarts the provider when all was counted, and stops it while a deployment changes. Each change is counted once. It
// runs before the tests that run at once.
func TestCountersOverRestarts(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	o := s.Claim("shop", fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": 1}`, s.Site("edge1")))
	succeeded := s.Succeed(o)
	s.Until("each change has an event", patience.Limit, func() bool { return reportedChanges(s, o) == len(transitionsOf(s, succeeded)) })

	cp.KillProvider()
	startProvider(s)
	nothing := map[string]float64{transitionsTotal: 0, phaseDuration: 0, rollbackTotal: 0, resultsTotal: 0, outcomesTotal: 0}
	wantCounted(s, "a provider that begins counts nothing again", nothing)

	cp.KillProvider()
	s.Apply(s.Set(o, "{", "spec", "intent"))
	failed := s.Await(o, "Failed", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Failed" })
	startProvider(s)
	changes := len(transitionsOf(s, failed)) - len(transitionsOf(s, succeeded))
	if changes == 0 {
		t.Fatal("the deployment did not change while no provider ran")
	}
	wantCounted(s, "a provider that begins counts the changes from before its start", map[string]float64{
		transitionsTotal: float64(changes), rollbackTotal: 0, resultsTotal: 0, outcomesTotal: 1,
	})
}
