package sites

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestLossAfterRejection loses the management cluster after a revision was rejected and rolled back. Git alone has the verdict and the rollback
// target: the rejected revision is not delivered again, although it would pass by now. The test runs before the parallel tests.
func TestLossAfterRejection(t *testing.T) {
	r := newMeasuredTrial(newSiteStage(t, siteDirectory))
	dir := r.Directory("edge1", claim)
	first := r.Succeed(r.describeJudged(2, 1))
	r.breachObjective()
	o := r.describeJudged(3, 1)
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	previousState, written := r.recordedState()
	tip := r.AwaitCommits(4)[0].ID
	if previousState.Current.Number != 2 || !previousState.IsRejected() || previousState.Target != 1 {
		t.Errorf("the ledger should have rejected revision 2, and name 1 as the target: %+v", previousState)
	}
	r.target.Set("error_ratio", good)

	r.loseManagementCluster()
	recovered := r.Reach(o, "an outcome after the loss", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "outcome") != "" })
	if got := scene.Field(recovered, "status", "outcome"); got != "RolledBack" {
		t.Fatalf("outcome after the loss: %s: %s", got, scene.Field(recovered, "status", "message"))
	}
	previous := scene.Field(first, "status", "delivery", "gitCommit")
	for i := range forced {
		observed := r.awaitOutcome(r.Set(o, fmt.Sprintf("%dm", 11+i), "spec", "deliveryConfig", "syncWaitTimeout"), "Succeeded", "RolledBack")
		r.wantRollback(observed, "GateFailed", previous, 1)
	}
	heldClaim := r.Await(o, "held", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Stalled", corev1.ConditionTrue, "RolledBack") && scene.Is(u, "Ready", corev1.ConditionFalse, "") && scene.Number(u, "status", "liveRevision") == 1
	})
	if got := scene.Number(heldClaim, "status", "revision"); got != 2 {
		t.Errorf("revision after the loss: %d", got)
	}
	next, rewritten := r.recordedState()
	if diff := cmp.Diff(previousState, next); diff != "" {
		t.Errorf("ledger: -want (before the loss), +got:\n%s", diff)
	}
	// The directory names the cluster that writes it, and that is another cluster.
	if diff := cmp.Diff([]string{dir + "/.intentplane"}, r.filesChangedSince(tip)); diff != "" || rewritten.ClusterUID == written.ClusterUID {
		t.Errorf("files that commits changed since the loss: -want, +got:\n%s", diff)
	}
	if got := r.replicasAtSite(); got != 2 {
		t.Errorf("replicas at the Site after the loss: %d", got)
	}

	r.Succeed(r.claimWithChecks(r.Set(o, r.intentWithReplicas(4), "spec", "intent"), 1))
	if got := r.replicasAtSite(); got != 4 {
		t.Errorf("replicas at the Site with the third revision: %d", got)
	}
	r.AwaitCommits(6)
}
