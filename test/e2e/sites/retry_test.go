package sites

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

// TestRetryAfterRejection requests a rejected intent again: it becomes a new revision with a verdict of its own. When that is rejected,
// it is not delivered again, whatever changes in the catalog, and however often the function is called.
func TestRetryAfterRejection(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	r.selectSiteByLabel("edge1")
	dir := r.Directory("edge1", claim)
	r.Succeed(r.claimForLabel(1))
	r.breachObjective()
	o := r.claimForLabel(2)
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	two, err := r.Git.Git(t.Context(), r.Namespace, "rev-parse", "main~1:"+dir)
	r.Must(err)

	r.target.Set("error_ratio", good)
	r.Succeed(r.claimForLabel(3))
	r.AwaitCommits(4)
	observed := r.Succeed(r.claimForLabel(2))
	if diff := cmp.Diff(two, r.Tree(dir)+"\n"); diff != "" {
		t.Errorf("tree of the rejected revision, requested on purpose: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(slices.Concat(transitionsOfSuccess("3", "Succeeded"), transitionsOfSuccess("4", "Succeeded")), r.logOfTransitions(observed)[len(r.logOfTransitions(observed))-12:]); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}

	r.breachObjective()
	o = r.claimForLabel(5)
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	commits := r.AwaitCommits(7)[0].ID
	r.target.Set("error_ratio", good)
	r.Release("1.1.0", "1.0.0")
	r.selectSiteByLabel("edge2")
	for i := range forced {
		r.awaitOutcome(r.Set(o, fmt.Sprintf("%dm", 11+i), "spec", "deliveryConfig", "syncWaitTimeout"), "Succeeded", "RolledBack")
	}
	if diff := cmp.Diff(commits, r.AwaitCommits(7)[0].ID); diff != "" {
		t.Errorf("tip of the branch while the revision is held: -want, +got:\n%s", diff)
	}
	r.wantHealthStatus(r.Now(o), "Failed", "Degraded")

	// The next intent takes the new Blueprint and the new Site along.
	r.Succeed(r.claimForLabel(6))
	if r.Tree(r.Directory("edge2", claim)) == "" {
		t.Error("the Site that was chosen meanwhile has nothing")
	}
	if got := scene.Field(r.Now(o), "status", "blueprint", "name"); got != r.BlueprintName()+"-1.1.0" {
		t.Errorf("the Blueprint after the next intent: %s", got)
	}
	r.AwaitCommits(8)
}
