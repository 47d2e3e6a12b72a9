package sites

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRollbackOfRevision rolls back a revision that breaks its objective, with a real Prometheus server that measures it and real Flux that
// applies it.
func TestRollbackOfRevision(t *testing.T) {
	t.Parallel()
	r := newMeasuredTrial(newSiteStage(t, siteDirectory))
	dir := r.Directory("edge1", claim)
	baseline, _ := tokensSpent(t)
	first := r.Succeed(r.describeJudged(2, 3))
	spent, _ := tokensSpent(t)
	t.Logf("%v tokens for the first revision, of all deployments", spent-baseline)
	firstTree, v1 := r.Tree(dir), scene.Field(first, "status", "delivery", "gitCommit")

	// The second revision is good at first. Another claim delivers while it is judged: the measurements take as long as a check
	// may.
	o := r.describeJudged(3, 100)
	r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
	secondTree := r.Tree(dir)
	r.Succeed(r.Claim("other", strings.ReplaceAll(r.intentWithReplicas(1), `"shop"`, `"other"`)))
	otherTree, commits := r.Tree(r.Directory("edge1", "other")), len(r.Commits())
	began := r.breachObjective()
	r.AwaitCommits(commits + 1)
	t.Logf("slo_breach_to_rollback_s %.2f, measured each second", time.Since(began).Seconds())
	if diff := cmp.Diff([]string{firstTree, otherTree}, []string{r.Tree(dir), r.Tree(r.Directory("edge1", "other"))}); diff != "" || firstTree == secondTree {
		t.Errorf("trees after the rollback (the second tree was %s): -want, +got:\n%s", secondTree, diff)
	}
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	t.Logf("slo_breach_to_live_again_s %.2f", time.Since(began).Seconds())
	observed := r.Await(o, "Stalled and recorded", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Stalled", corev1.ConditionTrue, "RolledBack") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	})
	spent, _ = tokensSpent(t)
	t.Logf("%v tokens for two revisions, a rollback and another claim, of all deployments", spent-baseline)
	if diff := cmp.Diff(int32(2), r.replicasAtSite()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	r.wantRolledBack(observed, v1)
	if diff := cmp.Diff(slices.Concat(transitionsOfSuccess("1", ""), transitionsOfRollback("2", "Succeeded")), r.logOfTransitions(observed)); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	r.wantTransitionEvents(observed)
	r.wantRevisionTraces()
	row := scene.ParseTable(r.Inside("get", gatesResource))["shop-r2-s0"]
	if row["STARTED"] == "" {
		t.Error("kubectl get gates does not say when the Gate began")
	}
	delete(row, "AGE")
	delete(row, "STARTED")
	want := scene.Row{
		"NAME": "shop-r2-s0", "CLAIM": "shop", "REVISION": "2", "INDEX": "0", "VERDICT": "Failed", "SYNCED": "True", "READY": "False", "REASON": "Failed",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("kubectl get gates: -want, +got:\n%s", diff)
	}

	r.target.Set("error_ratio", good)
	r.touchHeldClaim(o)

	r.Succeed(r.claimWithChecks(r.Set(o, r.intentWithReplicas(4), "spec", "intent"), 3))
	r.AwaitCommits(commits + 2)
	if diff := cmp.Diff(int32(4), r.replicasAtSite()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
}

// TestObjectiveInClaim is judged by a threshold that stands in the claim alone: its query is the Blueprint's. It has no rollback target.
func TestObjectiveInClaim(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	metric := map[string]any{"name": "error_rate", "query": errorRatio, "unit": "%", "direction": "AtMost"}
	r.Apply(r.Blueprint("1.0.0", "before"))
	r.Apply(r.Set(r.Blueprint("1.1.0", "stable"), []any{metric}, "spec", "metrics"))
	r.target.Set("error_ratio", 20)
	o := r.Set(r.Claim(claim, r.intentWithReplicas(1)), map[string]any{"error_rate": "5 %"}, "spec", "gatesConfig", "sloThresholds")
	r.Apply(o)
	// Its first measurement is due half a minute after the Site went live, and up to another half later.
	r.Until("Failed", patience.Limit, func() bool { return scene.Field(r.Now(o), "status", "phase") == "Failed" })
	observed := r.awaitOutcome(o, "Failed", "Failed")
	if message := scene.Field(observed, "status", "message"); !strings.Contains(message, "check error_rate at Site") {
		t.Errorf("message of the claim: %s", message)
	}
	r.Await(o, "no rollback target", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Stalled", corev1.ConditionTrue, "") && scene.Is(u, "Validated", corev1.ConditionFalse, "GateFailed") && strings.Contains(scene.Field(u, "status", "message"), "No rollback target")
	})
	r.AwaitCommits(1)

	// Without gates the same goes straight on.
	r.Succeed(r.Set(o, false, "spec", "gatesConfig", "enabled"))
}

// TestPrometheusDown passes no revision while the server is unavailable.
func TestPrometheusDown(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	r.server.Stop()
	requests, free := hangUpClients(r)
	o := r.describeJudged(1, 3)
	r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
	// The provider retries after up to 5, 10, 20 and 40 seconds.
	r.Until("three questions without an answer", patience.Limit, func() bool { return requests.Load() >= 3 })
	free()
	if phase := scene.Field(r.Now(o), "status", "phase"); phase != "Validating" {
		t.Errorf("the phase while the server is down: %s", phase)
	}
	r.Must(r.server.Start(t.Context()))
	r.Succeed(o)
	r.AwaitCommits(1)
}

// TestRequestedRollback rolls back on a user's request: from a revision that is being judged, and from a verified
// revision.
func TestRequestedRollback(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	dir := r.Directory("edge1", claim)
	r.Succeed(r.describeJudged(1, 1))
	firstTree := r.Tree(dir)

	o := r.describeJudged(2, 100)
	r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
	r.Apply(r.Request("abort", o, rolloutv1alpha1.ActionAbort, 2))
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	r.awaitRequestDone("abort")
	if diff := cmp.Diff(firstTree, r.Tree(dir)); diff != "" {
		t.Errorf("tree after Abort: -want, +got:\n%s", diff)
	}
	r.AwaitCommits(3)

	o = r.describeJudged(3, 1)
	r.Succeed(o)
	back := r.Request("back", o, rolloutv1alpha1.ActionRollbackTo, 3)
	r.Apply(r.Set(back, int64(1), "spec", "toRevision"))
	r.awaitOutcome(o, "Succeeded", "RolledBack")
	r.awaitRequestDone("back")
	if diff := cmp.Diff(firstTree, r.Tree(dir)); diff != "" {
		t.Errorf("tree after RollbackTo: -want, +got:\n%s", diff)
	}
	r.AwaitCommits(5)

	// A user requests a retry.
	now := scene.Number(r.Now(o), "status", "revision")
	r.Apply(r.Request("again", o, rolloutv1alpha1.ActionRetry, now))
	r.Succeed(o)
	r.awaitRequestDone("again")
	r.AwaitCommits(6)
}
