package trailers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestClaimLine fixes a format: commits of all versions have it, and are searched for it.
func TestClaimLine(t *testing.T) {
	c := rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web", UID: "u"}
	if diff := cmp.Diff("Intentplane-Claim: claims.intentplane.dev/IntentDeployment team-a/web\n", Line(Claim, ClaimValue(c))); diff != "" {
		t.Errorf("Line(Claim, ...): -want, +got:\n%s", diff)
	}
}
