package sites

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRollbackOfWaves rolls back a revision whose second wave was never reached: only the Sites of the first wave.
func TestRollbackOfWaves(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "edge1", "edge2")
	s.suspendEngine("edge1", false)
	s.suspendEngine("edge2", false)
	o := s.withTwoWaves(s.Claim(claim, s.intentForSites("shop", 1, "edge1", "edge2")))
	first := s.Succeed(o)
	previous, tip := s.treesOfClaim(claim, "edge1", "edge2"), s.AwaitCommits(2)[0].ID

	s.suspendEngine("edge1", true)
	s.Set(s.Set(o, s.intentForSites("shop", 2, "edge1", "edge2"), "spec", "intent"), "3s", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Apply(o)
	commits := s.AwaitCommits(4)
	s.suspendEngine("edge1", false)
	observed := s.awaitOutcome(o, "Succeeded", "RolledBack")
	if diff := cmp.Diff(previous, s.treesOfClaim(claim, "edge1", "edge2")); diff != "" {
		t.Errorf("trees after the rollback: -want, +got:\n%s", diff)
	}
	touched, err := s.Git.Git(t.Context(), s.Namespace, "log", "--format=", "--name-only", tip+"..main")
	s.Must(err)
	for name := range strings.FieldsSeq(touched) {
		if !strings.HasPrefix(name, s.Directory("edge1", claim)+"/") {
			t.Errorf("the second revision, or its rollback, touched %s", name)
		}
	}
	if diff := cmp.Diff(map[string]string{"revision": "2", "attempt": "1"}, map[string]string{
		"revision": commits[0].Trailers["Intentplane-Revision"], "attempt": commits[0].Trailers["Intentplane-Attempt"],
	}); diff != "" {
		t.Errorf("trailers of the rollback: -want, +got:\n%s", diff)
	}
	s.wantRollback(observed, "SyncTimedOut", scene.Field(first, "status", "delivery", "gitCommit"), 1)
	s.AwaitCommits(4)
}

// TestRollbackInTwoRepositories rolls back in the repository that accepts it. The other repository refuses until all attempts are spent. Then a
// person asks for the same again.
func TestRollbackInTwoRepositories(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	otherRepository := r.Namespace + "-other"
	r.Must(r.Git.CreateRepo(t.Context(), otherRepository, map[string]string{"README.md": "Not ours.\n"}))
	r.Apply(r.Set(r.ClusterProviderConfig(), r.Git.URL(otherRepository), "spec", "git", "url"))
	site := r.Set(r.NewSite("edge2"), map[string]any{"name": r.Namespace}, "spec", "repository", "providerConfigRef")
	r.Apply(r.Set(site, r.server.URL(), "spec", "metrics", "prometheus", "address"))
	firstDir, secondDir := r.Directory("edge1", claim), r.Directory("edge2", claim)
	claimFor := func(replicas int) *unstructured.Unstructured {
		o := r.claimWithChecks(r.Claim(claim, r.intentForSites("shop", replicas, "edge1", "edge2")), 1)
		return r.Set(o, int64(2), "spec", "rollbackConfig", "maxRetries")
	}
	r.Succeed(claimFor(1))
	firstTree := r.Tree(firstDir)

	// The second revision is the last that the other repository accepts. The record of the first revision may come later than the
	// hook.
	r.breachObjective()
	r.Git.AfterPush(otherRepository, func() {
		log, err := r.Git.Log(t.Context(), otherRepository, "main")
		if err == nil && len(log) > 2 {
			err = r.refuseCommits(otherRepository)
		}
		if err != nil {
			t.Error(err)
		}
	})
	o := claimFor(2)
	observed := r.Reach(o, "all attempts spent", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "RolledBack", corev1.ConditionFalse, "AttemptsSpent") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	})
	r.Until("the accepting repository is rolled back", patience.Limit, func() bool { return r.Tree(firstDir) == firstTree })
	secondTree, twoThere := r.treeInRepository(r.Namespace, "main~1", firstDir), r.treeInRepository(otherRepository, "main", secondDir)
	want := map[string]string{"here": firstTree, "there": twoThere, "commits": "3 and 2", "outcome": "Failed", "attempts": "2", "stalled": "True"}
	got := map[string]string{
		"here": r.Tree(firstDir), "there": r.treeInRepository(otherRepository, "main", secondDir),
		"commits": fmt.Sprintf("%d and %d", len(r.Commits()), r.commitsInRepository(otherRepository)),
		"outcome": scene.Field(observed, "status", "outcome"), "attempts": fmt.Sprint(scene.Number(observed, "status", "rollback", "attempts")),
		"stalled": string(scene.Condition(observed, "Stalled").Status),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when all attempts are spent: -want, +got:\n%s", diff)
	}
	r.wantHealthStatus(observed, "Failed", "Degraded")

	r.Git.AfterPush(otherRepository, nil)
	r.Must(os.Remove(r.receiveHookPath(otherRepository)))
	r.target.Set("error_ratio", good)
	r.Apply(r.Request("again", o, rolloutv1alpha1.ActionRetry, 2))
	r.Succeed(o)
	r.awaitRequestDone("again")
	if diff := cmp.Diff([]string{secondTree, twoThere}, []string{r.Tree(firstDir), r.treeInRepository(otherRepository, "main", secondDir)}); diff != "" || secondTree == firstTree {
		t.Errorf("trees after Retry (the first tree was %s): -want, +got:\n%s", firstTree, diff)
	}
}

// TestAttemptsSpent rolls back at a Site whose engine does nothing: attempts are counted, spent, and come true when it wakes up.
func TestAttemptsSpent(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "edge1")
	s.suspendEngine("edge1", false)
	o := s.Claim(claim, s.intentWithReplicas(1))
	first := s.Succeed(o)
	s.suspendEngine("edge1", true)
	s.Set(s.Set(o, "2s", "spec", "deliveryConfig", "syncWaitTimeout"), map[string]any{"maxRetries": int64(2), "attemptTimeout": "2s"}, "spec", "rollbackConfig")
	observed := s.Reach(s.Set(o, s.intentWithReplicas(2), "spec", "intent"), "all attempts spent", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "RolledBack", corev1.ConditionFalse, "AttemptsSpent") && scene.Is(u, "Recorded", corev1.ConditionTrue, "Recorded")
	})
	previous := scene.Field(first, "status", "delivery", "gitCommit")
	s.wantRollback(observed, "SyncTimedOut", previous, 2)
	s.wantHealthStatus(observed, "Failed", "Degraded")
	s.AwaitCommits(3)

	s.suspendEngine("edge1", false)
	observed = s.awaitOutcome(o, "Succeeded", "RolledBack")
	s.wantRollback(observed, "SyncTimedOut", previous, 2)
	s.AwaitCommits(3)
	s.Succeed(s.Set(s.Set(o, s.intentWithReplicas(3), "spec", "intent"), "10m", "spec", "deliveryConfig", "syncWaitTimeout"))
	if diff := cmp.Diff(int32(3), s.replicasAtSite()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	s.AwaitCommits(4)
}
