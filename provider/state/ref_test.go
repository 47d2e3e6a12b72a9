package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRefs fixes the names: repositories have them, and all versions read them there.
func TestRefs(t *testing.T) {
	want := []string{"refs/intentplane/prod/state", "refs/heads/intentplane-state/prod"}
	if diff := cmp.Diff(want, []string{Ref("prod"), BranchRef("prod")}); diff != "" {
		t.Errorf("Ref(...), BranchRef(...): -want, +got:\n%s", diff)
	}
}
