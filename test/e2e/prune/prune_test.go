package prune

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// TestPrune removes the directory of a deployment that was deleted and left it, and nothing of a living deployment. A deployment of that name starts
// behind the revision that was pruned.
func TestPrune(t *testing.T) {
	t.Parallel()
	for name, describe := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.orphanDirectories(describe(s, "gone"), describe(s, "left"))
			s.Succeed(describe(s, "shop"))

			planned := s.runPrune("--dry-run")
			s.wantOutput(planned, 0, "PRUNE   "+s.Directory("edge1", "gone"), "KEEP    "+s.Directory("edge1", "shop"), "uses it", "2 directories to prune, 1 to keep. Plan sha256:")
			_, digest, _ := strings.Cut(strings.TrimSpace(planned.out), "Plan ")
			s.wantDirectory("gone", true)

			s.wantOutput(s.runPrune("--only", "gone,other", "--confirm"), 1, "NotInPlan", "other")
			s.wantOutput(s.runPrune("--only", "gone", "--plan", digest), 3, "the plan changed")
			s.wantOutput(s.runPrune("--plan", digest, "--only", "gone", "--confirm"), 2, "choose one of them")
			s.wantOutput(s.runPrune(), 2, "no one can be asked")
			s.wantOutput(s.runPrune("--plan", digest), 0, "removed 2 directories")
			s.wantDirectory("gone", false)
			s.wantDirectory("left", false)
			s.wantDirectory("shop", true)
			s.wantOutput(s.runPrune("--plan", digest), 3, "the plan changed")
			s.wantOutput(s.runPrune("--confirm"), 0, "0 directories to prune")
			if n := s.pruneCommits(); n != 1 {
				t.Errorf("two directories go in one commit: got %d commits", n)
			}

			recreated := s.Succeed(describe(s, "gone"))
			if n, _, _ := unstructured.NestedInt64(recreated.Object, "status", "revision"); n != 2 {
				t.Errorf("the revision of a deployment whose directory was pruned: want 2, got %d", n)
			}
		})
	}
}

// TestState looks into the state after a prune: the ledger of the claim is closed, and nothing of it is retained.
func TestState(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	s.approvePlan(s.requestPlan("one"))
	done := s.awaitEnd("one", v1alpha1.PhaseDone)
	claim := rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Namespace: s.Namespace, Name: "gone"}
	files, err := s.Git.Git(t.Context(), s.Namespace, "ls-tree", "-r", "--name-only", "refs/intentplane/test/state")
	s.Must(err)
	if diff := cmp.Diff([]string{state.LedgerPath(claim), state.OwnerPath}, strings.Fields(files)); diff != "" {
		t.Errorf("files of the state: -want, +got:\n%s", diff)
	}
	content, err := s.Git.Git(t.Context(), s.Namespace, "show", "refs/intentplane/test/state:"+state.LedgerPath(claim))
	s.Must(err)
	ledger, err := state.DecodeLedger([]byte(content))
	if err != nil || !ledger.State.IsClosed || ledger.State.LastNumber != 1 {
		t.Errorf("the ledger is closed at revision 1: %v, %+v", err, ledger.State)
	}
	tip := s.Commits()[0]
	if done.Status.Result.Commit != tip.ID || !strings.Contains(tip.Message, "Intentplane-Prune: "+string(done.GetUID())) {
		t.Errorf("result.commit is %s, and the tip is %s:\n%s", done.Status.Result.Commit, tip.ID, tip.Message)
	}
}

// TestClaimBeforeApproval makes the claim again after its plan was shown: the plan changed, and nothing is removed.
func TestClaimBeforeApproval(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("back"), s.describeShop("gone"))
	r := s.requestPlan("one")
	if diff := cmp.Diff(map[string]string{"back": "Prune", "gone": "Prune"}, verdictsByClaim(r)); diff != "" {
		t.Fatalf("plan: -want, +got:\n%s", diff)
	}
	s.Succeed(s.describeShop("back")) // Before, its repository may be behind the ledger, and the plan is Uncertain.
	s.approvePlan(r)
	s.wantChanged("one", "InUse")
	s.wantDirectory("back", true)
	s.wantDirectory("gone", true)
}

// TestClaimBeforePush makes the claim again when the push is on its way already, which gets lost: the plan is made again, and nothing is removed.
func TestClaimBeforePush(t *testing.T) {
	t.Parallel()
	for name, describe := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.orphanDirectories(describe(s, "back"))
			r := s.requestPlan("one")
			applied := make(chan error, 1)
			s.Git.DropPush(s.Namespace, func() {
				s.Git.DropPush(s.Namespace, nil)
				applied <- cp.ApplyObject(t.Context(), describe(s, "back"))
			})
			s.approvePlan(r)
			s.Must(<-applied)
			s.wantChanged("one", "InUse")
			s.Succeed(describe(s, "back"))
			s.wantDirectory("back", true)
		})
	}
}

// TestOutage approves a plan while the repository does not answer: the request waits, and is carried out once.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	r := s.requestPlan("one")
	s.Git.FailPushes(s.Namespace, http.StatusServiceUnavailable)
	s.approvePlan(r)
	s.awaitRequest("one", "Unreachable", func(r *v1alpha1.PruneRequest) bool {
		return r.Status.GetCondition(v1alpha1.TypeCompleted).Reason == v1alpha1.ReasonUnreachable
	})
	s.Git.FailPushes(s.Namespace, 0)
	s.awaitEnd("one", v1alpha1.PhaseDone)
	s.wantDirectory("gone", false)
	if n := s.pruneCommits(); n != 1 {
		t.Errorf("want 1 commit, got %d", n)
	}
}

// TestKept has directories that stay although no claim lives: changed or copied by a user, with an invalid marker, and around another directory.
func TestKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("changed"), s.describeShop("young"))
	_, err := s.Git.Commit(t.Context(), s.Namespace, "main", map[string]string{
		s.Directory("edge1", "changed") + "/notes.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\n",
		s.Directory("edge1", "copy") + "/.intentplane":         s.Files()[s.Directory("edge1", "young")+"/.intentplane"],
		s.Directory("edge1", "large") + "/.intentplane":        strings.Repeat("x", 5000),
		s.Directory("edge1", "young/inside") + "/.intentplane": "{",
	}, "A user's commit")
	s.Must(err)
	got := map[string]string{}
	for _, i := range s.requestPlan("one").Status.Plan.Items {
		got[strings.TrimPrefix(i.Path, s.Directory("edge1", ""))] = strings.TrimSpace(i.Verdict + " " + i.Reason)
	}
	// The directory inside of another has the place of another namespace, which this namespace does not see.
	want := map[string]string{"changed": "Keep Changed", "copy": "Keep Unremembered", "large": "Keep NotOurs", "young": "Keep NotOurs"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan: -want, +got:\n%s", diff)
	}
}

// TestYoung keeps a directory that was delivered just now, unless minAge says otherwise.
func TestYoung(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("young"))
	s.wantOutput(s.runPrune("--min-age", "1h", "--dry-run"), 0, "TooYoung", "0 directories to prune, 1 to keep")
	s.wantOutput(s.runPrune("--dry-run"), 0, "1 directory to prune, 0 to keep")
}
