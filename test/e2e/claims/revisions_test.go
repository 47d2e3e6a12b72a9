package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

func TestRevisionsOfClaim(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
	first := s.Succeed(claim)
	delivery := s.Raw()

	// The same claim again changes nothing.
	s.Apply(claim)
	if diff := cmp.Diff(first.GetGeneration(), s.Now(claim).GetGeneration()); diff != "" {
		t.Errorf("metadata.generation after the same claim again: -want, +got:\n%s", diff)
	}

	// A field without influence on the delivery changes the digest, and delivers nothing.
	s.Set(claim, "7m", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Set(claim, "20s", "spec", "compileConfig", "renderTimeout")
	timeouts := s.Succeed(claim)
	if scene.Field(first, "status", "intentDigest") == scene.Field(timeouts, "status", "intentDigest") {
		t.Error("status.intentDigest is the same for other timeouts")
	}
	if diff := cmp.Diff(int64(1), scene.Number(timeouts, "status", "revision")); diff != "" {
		t.Errorf("status.revision after other timeouts: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(delivery.GetGeneration(), s.Raw().GetGeneration()); diff != "" {
		t.Errorf("generation of GitDelivery after other timeouts: -want, +got:\n%s", diff)
	}

	// Another intent is one more commit, whatever the number of Sites. All that went before made just one.
	s.Set(claim, intentWithReplicas(s, 3, "edge1", "edge2"), "spec", "intent")
	second := s.Succeed(claim)
	commits := s.AwaitCommits(2)
	if diff := cmp.Diff(int64(2), scene.Number(second, "status", "revision")); diff != "" {
		t.Errorf("status.revision after another intent: -want, +got:\n%s", diff)
	}
	checkTouched(t, s, commits[0].ID, "edge1", "edge2")
	checkHistory(t, s, commits[1].ID, commits[0].ID)
}
