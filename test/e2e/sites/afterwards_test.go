package sites

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDriftAfterSuccess disturbs a deployment that succeeded: an unmanaged commit edits the directory, the engine is suspended, and the
// branch is forced back. The phase stays, Ready is lost, and comes again.
func TestDriftAfterSuccess(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	dir := s.Directory("edge1", claim)
	o := s.Set(s.Claim(claim, s.intentWithReplicas(1)), "Report", "spec", "deliveryConfig", "driftPolicy")
	s.Succeed(o)
	first := s.AwaitCommits(2)[0].ID
	s.Succeed(s.Set(o, s.intentWithReplicas(2), "spec", "intent"))
	ours := s.Files()[dir+"/deployment-shop.yaml"]

	s.awaitApplied(s.commitUnmanaged(map[string]string{dir + "/deployment-shop.yaml": ours + "# Theirs.\n"}))
	s.wantHealthStatus(s.awaitNotReady(o, "an unmanaged edit", "Reconciling", "Drifted"), "InProgress", "Progressing")
	s.awaitApplied(s.commitUnmanaged(map[string]string{dir + "/deployment-shop.yaml": ours}))
	s.Succeed(o)

	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":true}}`)
	s.awaitNotReady(o, "the engine does nothing", "Reconciling", "Drifted")
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":false}}`)
	s.Succeed(o)

	tip := s.Commits()[0].ID
	s.forceBranch(first)
	// The engine may report first, and then the Site is Drifted for a while. The report of the repository stays.
	s.wantHealthStatus(s.awaitNotReady(o, "the branch is forced back", "Stalled", "DeliveryBlocked"), "Failed", "Degraded")
	s.forceBranch(tip)
	observed := s.Succeed(o)
	if diff := cmp.Diff(slices.Concat(transitionsOfSuccess("1", ""), transitionsOfSuccess("2", "Succeeded")), s.logOfTransitions(observed)); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(tip, s.AwaitCommits(5)[0].ID); diff != "" {
		t.Errorf("tip of the branch: -want, +got:\n%s", diff)
	}
}
