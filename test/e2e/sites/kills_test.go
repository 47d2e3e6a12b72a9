package sites

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestKillsDuringRollback kills parts of the control plane while a revision is delivered, judged and rolled back. It runs before the tests that
// run at once.
func TestKillsDuringRollback(t *testing.T) {
	rounds, random := soak.Random(t, 2, 50)
	for range rounds {
		r := newUnobservedTrial(t)
		dir := r.Directory("edge1", claim)
		r.Succeed(r.describeJudged(1, 1))
		firstTree := r.Tree(dir)
		r.target.Set("error_ratio", bad)
		o := r.describeJudged(2, 60)
		r.Apply(o)
		r.killRandomParts(random)
		observed := r.awaitOutcome(o, "Succeeded", "RolledBack")
		r.AwaitCommits(3)
		if diff := cmp.Diff(firstTree, r.Tree(dir)); diff != "" {
			t.Errorf("tree after the rollback: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(int64(1), scene.Number(observed, "status", "rollback", "attempts")); diff != "" {
			t.Errorf("attempts: -want, +got:\n%s", diff)
		}
		// The waits of a claim before its first revision belong to no revision.
		if diff := cmp.Diff(slices.Concat(transitionsOfSuccess("1", "")[1:], transitionsOfRollback("2", "Succeeded")), r.logOfTransitions(observed)[1:]); diff != "" {
			t.Errorf("transitions: -want, +got:\n%s", diff)
		}
		r.wantTransitionEvents(observed)
		if t.Failed() {
			return
		}
	}
}
