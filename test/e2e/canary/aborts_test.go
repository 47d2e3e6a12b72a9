package canary

import (
	"fmt"
	"slices"
	"testing"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
)

// TestAborts gives canaries up at each of their weights, also with all requests and without a verdict, before and after a user let one go to its end. Then the user goes back to the first revision, as
// after a rollback, and forward again. No request fails.
func TestAborts(t *testing.T) {
	t.Parallel()
	y := newReleaseAt(t, release.Options{})
	manualPause := release.Pause("")
	plan := release.Plan{Steps: []any{manualPause, release.Weight(5), manualPause, release.Weight(20), manualPause, release.Weight(50), manualPause, release.Weight(100), manualPause}}
	y.startsUsers(plan, perSecond/4)
	revision := int64(1)
	var want []string
	for _, a := range aborted {
		revision++
		y.runReleasePart(fmt.Sprintf("At%d", a.weight), func(y *followedRelease) { y.isGivenUpAt(revision, a.step, plan) })
		want = slices.Concat(want, divisionsUntil(a.weight))
	}

	y.runReleasePart("RollbackToAfterTheEnd", func(y *followedRelease) {
		y.isVerifiedAt(7, plan)
		y.runPlugin("rollback", "--to-revision=1", "--wait")
		y.awaitOutcome(8, "RolledBack")
	})
	y.runReleasePart("RollbackToAfterRollback", func(y *followedRelease) {
		y.isVerifiedAt(9, plan)
		y.isGivenUpAt(10, 2, plan)
		y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionRollbackTo, 10, map[string]any{"toRevision": int64(1)}))
		y.awaitOutcome(11, "RolledBack")
	})
	y.stopAndCheckUsers()
	full := []string{"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 50, green 50", "blue 0, green 100", "green 100"}
	back := []string{"blue 0, green 100", "blue 100, green 0", "blue 100"}
	y.wantDivisions(y.Sites[0], slices.Concat([]string{"blue 100"}, want, full, back, full,
		[]string{"blue 0, green 100", "blue 5, green 95", "blue 0, green 100", "green 100"}, back)...)
}
