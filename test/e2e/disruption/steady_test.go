package disruption

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

func TestSteadyStateIsFree(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	if err := cp.RestartFunction(t.Context(), "--ttl="+ttl.String()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cp.RestartFunction(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))
	composite := s.Succeed(s.Composite("other", intentOfService(s, "other", 1, "edge1")))
	wantCommits(s, 2)

	// Each deployment is steady once the function gets the same request for it repeatedly.
	awaitFunctionCalls(s, len(functionLog(t)), 3)
	previous, logged := objectVersions(s, claim, composite), providerLines(s)
	if logged == 0 {
		t.Error("the provider logs nothing about two deployments that came")
	}
	calls := awaitFunctionCalls(s, len(functionLog(t)), soak.Rounds(t, 50, 300))
	if diff := cmp.Diff(previous, objectVersions(s, claim, composite)); diff != "" {
		t.Errorf("resource versions after %v calls: -want, +got:\n%s", calls, diff)
	}
	wantCommits(s, 2)
	if now := providerLines(s); now != logged {
		t.Errorf("the provider logged %d lines about deployments of which nothing changed", now-logged)
	}
	t.Logf("calls of the function, for each deployment: %v", calls)
}
