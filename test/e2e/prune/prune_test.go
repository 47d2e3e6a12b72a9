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
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPrune removes the directory of a deployment that was deleted and left it, and nothing of a living deployment. A deployment of that name starts
// behind the revision that was pruned.
func TestPrune(t *testing.T) {
	t.Parallel()
	for name, describe := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPruneStage(t)
			s.orphanDirectories(describe(s, "gone"), describe(s, "left"))
			s.Succeed(describe(s, "shop"))

			planned := s.runPruneCommand("--dry-run")
			s.wantPruneOutput(planned, 0, "PRUNE   "+s.Directory("edge1", "gone"), "KEEP    "+s.Directory("edge1", "shop"), "uses it", "2 directories to prune, 1 to keep. Plan sha256:")
			_, digest, _ := strings.Cut(strings.TrimSpace(planned.out), "Plan ")
			s.wantDirectory("gone", true)

			s.wantPruneOutput(s.runPruneCommand("--only", "gone,other", "--confirm"), 1, "NotInPlan", "other")
			s.wantPruneOutput(s.runPruneCommand("--only", "gone", "--plan", digest), 3, "the plan changed")
			s.wantPruneOutput(s.runPruneCommand("--plan", digest, "--only", "gone", "--confirm"), 2, "choose one of them")
			s.wantPruneOutput(s.runPruneCommand(), 2, "no one can be asked")
			s.wantPruneOutput(s.runPruneCommand("--plan", digest), 0, "removed 2 directories")
			s.wantDirectory("gone", false)
			s.wantDirectory("left", false)
			s.wantDirectory("shop", true)
			s.wantPruneOutput(s.runPruneCommand("--plan", digest), 3, "the plan changed")
			s.wantPruneOutput(s.runPruneCommand("--confirm"), 0, "0 directories to prune")
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
	s := newPruneStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	s.approvePlan(s.requestPlan("one"))
	done := s.awaitFinalPhase("one", v1alpha1.PhaseDone)
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
	s := newPruneStage(t)
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
			s := newPruneStage(t)
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
	s := newPruneStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	r := s.requestPlan("one")
	s.Git.FailPushes(s.Namespace, http.StatusServiceUnavailable)
	s.approvePlan(r)
	s.awaitRequest("one", "Unreachable", func(r *v1alpha1.PruneRequest) bool {
		return r.Status.GetCondition(v1alpha1.TypeCompleted).Reason == v1alpha1.ReasonUnreachable
	})
	s.Git.FailPushes(s.Namespace, 0)
	s.awaitFinalPhase("one", v1alpha1.PhaseDone)
	s.wantDirectory("gone", false)
	if n := s.pruneCommits(); n != 1 {
		t.Errorf("want 1 commit, got %d", n)
	}
}

// TestKept has directories that stay although no claim lives: changed or copied by a user, with an invalid marker, and around another directory.
func TestKept(t *testing.T) {
	t.Parallel()
	s := newPruneStage(t)
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
	s := newPruneStage(t)
	s.orphanDirectories(s.describeShop("young"))
	s.wantPruneOutput(s.runPruneCommand("--min-age", "1h", "--dry-run"), 0, "TooYoung", "0 directories to prune, 1 to keep")
	s.wantPruneOutput(s.runPruneCommand("--dry-run"), 0, "1 directory to prune, 0 to keep")
}

// TestRefusedObjects are objects that the API server does not take.
func TestRefusedObjects(t *testing.T) {
	s := newPruneStage(t)
	request := func(field string, value any) *unstructured.Unstructured {
		spec := map[string]any{"scope": "Directories", "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config}}
		spec[field] = value
		return s.describeObject("PruneRequest", "bad", spec)
	}
	approval := func(plan string) *unstructured.Unstructured { return s.describeApproval("bad", "one", "uid", plan) }
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		says   string
	}{
		"Scope":       {reason: "A scope that does not exist is refused.", object: request("scope", "Everything"), says: "Unsupported value"},
		"NegativeAge": {reason: "An age is not negative.", object: request("minAge", "-1h"), says: "must not be negative"},
		"NoAge":       {reason: "An age is a duration.", object: request("minAge", "old"), says: "minAge"},
		"OnlyTwice":   {reason: "A name stands once in only.", object: request("only", []any{"a", "a"}), says: "duplicate entries"},
		"OnlyEmpty":   {reason: "An empty list in only would mean nothing, or all.", object: request("only", []any{}), says: "at least 1"},
		"NoDigest":    {reason: "An approval names a digest.", object: approval("yes"), says: "must be the digest of a plan"},
		"HalfDigest":  {reason: "A part of a digest is refused.", object: approval("sha256:" + strings.Repeat("a", 63)), says: "must be the digest of a plan"},
		"UpperDigest": {reason: "A digest has lower-case digits.", object: approval("sha256:" + strings.Repeat("A", 64)), says: "must be the digest of a plan"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if refusal := s.Refused(tc.object); !strings.Contains(refusal, tc.says) {
				t.Errorf("\n%s\nwant %q in: %s", tc.reason, tc.says, refusal)
			}
		})
	}
}

// TestApprovals answers each approval that does not count with a reason, and removes nothing.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := newPruneStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	r := s.requestPlan("one")
	s.Apply(s.describeObject("PruneRequest", "other", map[string]any{
		"scope": "Directories", "minAge": "0s", "allowStateful": true, "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config},
	}))
	otherRequest := s.awaitRequest("other", "a plan", func(r *v1alpha1.PruneRequest) bool { return r.Status.Phase != "" })
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		want   any
	}{
		"unknown": {
			reason: "A request that does not exist has no plan.",
			object: s.describeApproval("unknown", "none", "uid", r.Status.Plan.Digest), want: v1alpha1.ReasonUnknownRequest,
		},
		"again": {
			reason: "A request that was created again is another request.",
			object: s.describeApproval("again", "one", "uid", r.Status.Plan.Digest), want: v1alpha1.ReasonOtherRequest,
		},
		"plan": {
			reason: "The plan of another request is another plan.",
			object: s.describeApproval("plan", "one", string(r.GetUID()), otherRequest.Status.Plan.Digest), want: v1alpha1.ReasonOtherPlan,
		},
		"request": {
			reason: "A plan of another request does not match.",
			object: s.describeApproval("request", "other", string(otherRequest.GetUID()), r.Status.Plan.Digest), want: v1alpha1.ReasonOtherPlan,
		},
	}
	for _, tc := range cases {
		t.Log(tc.reason)
		s.Apply(tc.object)
		s.wantApprovalResult(tc.object, tc.want)
	}
	s.wantDirectory("gone", true)
	if refusal := s.Refused(s.Set(cases["plan"].object.DeepCopy(), r.Status.Plan.Digest, "spec", "plan")); !strings.Contains(refusal, "spec never changes") {
		t.Errorf("an approval never changes: %s", refusal)
	}
	right := s.describeApproval("right", "one", string(r.GetUID()), r.Status.Plan.Digest)
	s.Apply(right)
	s.wantApprovalResult(right, v1alpha1.ReasonAccepted)
	s.awaitFinalPhase("one", v1alpha1.PhaseDone)
	late := s.describeApproval("late", "one", string(r.GetUID()), r.Status.Plan.Digest)
	s.Apply(late)
	s.wantApprovalResult(late, v1alpha1.ReasonTooLate)
	if n := s.pruneCommits(); n != 1 {
		t.Errorf("want 1 commit, got %d", n)
	}
}

// TestKilled kills the provider when the push of a removal arrives and is lost, and when it was carried out and not answered. A removed directory is
// not removed again, and the request names the commit.
func TestKilled(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     func(repository string, fn func())
	}{
		"BeforePush": {reason: "A push that was lost with the provider is made by the next provider.", at: cp.Git.DropPush},
		"AfterPush":  {reason: "A push that was carried out is not made again by the next provider.", at: cp.Git.AfterPush},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newPruneStage(t)
			s.orphanDirectories(s.describeShop("gone"))
			r := s.requestPlan("one")
			killed := make(chan struct{})
			tc.at(s.Namespace, func() {
				tc.at(s.Namespace, nil)
				cp.KillProvider()
				close(killed)
			})
			s.approvePlan(r)
			<-killed
			s.Must(cp.StartProvider(t.Context(), controlplane.Program{}))
			done := s.awaitFinalPhase("one", v1alpha1.PhaseDone)
			s.wantDirectory("gone", false)
			if n, tip := s.pruneCommits(), s.Commits()[0].ID; n != 1 || done.Status.Result.Commit != tip {
				t.Errorf("\n%s\n%d commits, and result.commit is %s at tip %s", tc.reason, n, done.Status.Result.Commit, tip)
			}
		})
	}
}

// TestRebuilt builds another cluster in the place of a lost cluster, with fewer claims than that had. It prunes nothing until the configuration names
// the lost cluster, and then the directories without a claim.
func TestRebuilt(t *testing.T) {
	s := newPruneStage(t)
	s.Succeed(s.describeShop("lost"))
	s.Succeed(s.describeShop("shop"))
	content, err := s.Git.Git(t.Context(), s.Namespace, "show", "refs/intentplane/test/state:"+state.OwnerPath)
	s.Must(err)
	formerOwner, err := state.DecodeOwner([]byte(content))
	s.Must(err)

	s.Must(cp.Rebuild(t.Context(), controlplane.Backup{}, nil))
	s.Run("create", "namespace", s.Namespace)
	for _, o := range []*unstructured.Unstructured{s.ProviderConfig(), s.Blueprint("1.0.0", "stable"), s.NewSite("edge1")} {
		s.Apply(o)
	}
	s.wantPruneOutput(s.runPruneCommand("--allow-most", "--confirm"), 1, "OwnedElsewhere", "StateUntrusted", formerOwner)
	s.Apply(s.describeShop("shop"))
	s.wantPruneOutput(s.runPruneCommand("--allow-most", "--confirm"), 1, "OwnedElsewhere")
	s.wantDirectory("lost", true)

	s.Apply(s.Set(s.ProviderConfig(), formerOwner, "spec", "takeOverFrom"))
	s.Succeed(s.describeShop("shop"))
	s.wantPruneOutput(s.runPruneCommand("--confirm"), 0, "removed 1 directory", "InUse")
	s.wantDirectory("lost", false)
	s.wantDirectory("shop", true)
	s.wantPruneOutput(s.runPruneCommand("--dry-run"), 0, "0 directories to prune, 1 to keep")
}
