package gitdelivery

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// TestLedgerHome plays the recordings of the home repository of a deployment.
func TestLedgerHome(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"First": {reason: "The home records the first revision, its trees and its record in one push.", run: func(w *world) {
			w.startHome()
			baseline := w.stateCommits()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, openedEvent("demo"), orderedEvent(1, "a", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			if pushes := w.stateCommits() - baseline; pushes != 1 {
				w.Errorf("commits of the state: want 1, got %d", pushes)
			}
			observed := w.get("web").Status.AtProvider
			want := w.storedLedger(repo).State
			if diff := cmp.Diff(want, *observed.Ledger); diff != "" {
				w.Errorf("the status shows the ledger that the repository holds: -want, +got:\n%s", diff)
			}
			if observed.Record == nil || observed.Record.Head != want.Head || observed.Record.Position != want.Position() || observed.Record.Home != "default" || observed.Record.Copy != nil {
				w.Errorf("the record of the home follows the head: got %+v", observed.Record)
			}
		}},
		"Again": {reason: "A recorded and delivered revision is not written again.", run: func(w *world) {
			w.firstRevision()
			commits := w.stateCommits()
			w.reconcile("web")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if got := w.stateCommits(); got != commits {
				w.Errorf("commits of the state: want %d, got %d", commits, got)
			}
		}},
		"Verdict": {reason: "A verdict is recorded in one push of the state, without a commit of the branch.", run: func(w *world) {
			w.firstRevision()
			commits := w.stateCommits()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if got := w.stateCommits() - commits; got != 1 {
				w.Errorf("commits of the state: want 1 more, got %d", got)
			}
			s := w.ledgerOf("web")
			if !s.IsVerified() || s.Stable != 1 || len(s.Targets()) != 1 {
				w.Errorf("ledger: want revision 1 verified and stable, got %+v", s)
			}
		}},
		"RolledBack": {reason: "A rejection and the rollback are one push, and the trees of the target come back from the repository.", run: func(w *world) {
			w.secondRevision()
			w.collect()
			commits := w.stateCommits()
			w.propose([]v1alpha1.Tree{restoring1("a")}, rejectedEvent("GateFailed"), rolledBackEvent(1))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			w.count(3)
			if got := w.stateCommits() - commits; got != 1 {
				w.Errorf("commits of the state: want 1 more, got %d", got)
			}
			w.propose([]v1alpha1.Tree{restoring1("a")}, ledger.Event{Restored: &ledger.Restored{}})
			s := w.ledgerOf("web")
			w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Attempt: 1})
			if !s.Restored || s.Target != 1 || s.Stable != 1 {
				w.Errorf("ledger: want revision 1 restored, got %+v", s)
			}
		}},
		"Stale": {reason: "Events on top of another head than the recorded one are not written, and the head is shown.", run: func(w *world) {
			w.firstRevision()
			observed := w.ledgerOf("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			recorded := w.ledgerOf("web")
			w.writeProposal(observed, []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "x")}, rejectedEvent("SyncFailed"))
			w.forget()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			if diff := cmp.Diff(recorded, w.ledgerOf("web")); diff != "" {
				w.Errorf("a status that was lost shows the recorded ledger: -want, +got:\n%s", diff)
			}
		}},
		"Twice": {reason: "The same events on top of the same head are recorded once, and their trees are delivered.", run: func(w *world) {
			w.startHome()
			observed := w.ledgerOf("web")
			trees := []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}
			w.propose(trees, openedEvent("demo"), orderedEvent(1, "a", "edge1"))
			head := w.ledgerOf("web").Head
			w.writeProposal(observed, trees, openedEvent("demo"), orderedEvent(1, "a", "edge1"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if got := w.ledgerOf("web").Head; got != head {
				w.Errorf("head: want %v, got %v", head, got)
			}
		}},
		"Illegal": {reason: "An event that must not follow is refused with its name and its reason, and nothing is written.", run: func(w *world) {
			w.verifiedRevision()
			head, commits := w.ledgerOf("web").Head, w.stateCommits()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: head, Events: []ledger.Event{rejectedEvent("SyncFailed")}}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonIllegal)
			want := "Illegal: spec.forProvider.ledger.events: cannot record Judged: revision 1 is Verified, and a verdict never changes"
			if got := w.says("web"); got != want {
				w.Errorf("Ready: want %q, got %q", want, got)
			}
			if w.ledgerOf("web").Head != head || w.stateCommits() != commits {
				w.Errorf("the ledger does not move: got %v", w.ledgerOf("web").Head)
			}
		}},
		"OtherPosition": {reason: "Trees that belong to another position than the ledger are not written.", run: func(w *world) {
			w.firstRevision()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Position = &ledger.Position{Epoch: 1, Revision: 9}
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: w.ledgerOf("web").Head}
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "x")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonInvalid)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Settled": {reason: "A directory that the trees do not name is removed when the deployment has settled, and not before.", run: func(w *world) {
			w.startHome()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a")}, openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2"))
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("a")}, nil)
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Settled = true })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
	})
}

// TestLedgerLimits plays revisions that are recorded and cannot be delivered.
func TestLedgerLimits(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"Limit": {reason: "A revision that a limit refuses is recorded first, so that it can be rejected by its number.", run: func(w *world) {
			w.startHome()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge9", "clusters/edge9/team-a/web", "a")}, openedEvent("demo"), orderedEvent(1, "a", "edge9"))
			w.expect("web", v1alpha1.ReasonSiteMissing)
			w.count(0)
			w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 1})
			w.positionIs(w.ledgerOf("web"), ledger.Position{Epoch: 1, Revision: 1})
			if w.get("web").Status.AtProvider.Record != nil {
				w.Error("a repository that was brought to nothing has no record")
			}
			w.propose(nil, rejectedEvent("DeliveryRefused"))
			if !w.ledgerOf("web").IsRejected() {
				w.Error("the revision is rejected")
			}
		}},
		"Hook": {reason: "A revision that a hook of the server refuses is recorded, and then refused.", run: func(w *world) {
			w.verifiedRevision()
			w.hook("update", `case "$1" in refs/heads/main) echo "only on Mondays" >&2; exit 1;; esac`)
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			_ = w.try("web") // It is in the condition.
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.positionIs(w.ledgerOf("web"), ledger.Position{Epoch: 1, Revision: 2})
			w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 2})
			if r := w.get("web").Status.AtProvider.Record; r.Position.Revision != 1 {
				w.Errorf("the record stays where the trees are: got %+v", r.Position)
			}
			w.hook("update", "exit 0")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, rejectedEvent("DeliveryRefused"), rolledBackEvent(1))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			if r := w.get("web").Status.AtProvider.Record; r.Position != (ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}) {
				w.Errorf("the record is at the rollback: got %+v", r.Position)
			}
		}},
		"Timeout": {reason: "A revision that the server does not take for longer than deliveryTimeout is late.", run: func(w *world) {
			w.verifiedRevision()
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.git.Fail(repo, 503)
			_ = w.try("web") // It is in the condition.
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.pass(11 * time.Minute)
			_ = w.try("web") // It is in the condition.
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
			w.git.Fail(repo, 0)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if got := w.get("web").Status.AtProvider.Waiting; got != nil {
				w.Errorf("waiting: want nothing, got %+v", got)
			}
		}},
		"Drift": {reason: "A change by another commit is restored without a new event.", run: func(w *world) {
			w.firstRevision()
			head := w.ledgerOf("web").Head
			w.push(map[string]string{webAtE1 + "/configmap.yaml": "x: 1\n"})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			if got := w.ledgerOf("web").Head; got != head {
				w.Errorf("head: want %v, got %v", head, got)
			}
		}},
	})
}

// TestLedgerLoss plays losses of states and of objects.
func TestLedgerLoss(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"State": {reason: "A ledger that the home lost continues from the status, in the next epoch.", run: func(w *world) {
			w.verifiedRevision()
			previous := w.ledgerOf("web")
			w.deleteState()
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			current := w.storedLedger(repo).State
			w.positionIs(current, ledger.Position{Epoch: previous.Epoch + 1, Revision: 1})
			if !current.IsVerified() || current.Stable != 1 || current.LastNumber != 1 || current.Home != "default" || current.Ledger == previous.Ledger {
				w.Errorf("a new ledger has the previous verdict and numbers: got %+v", current)
			}
			if diff := cmp.Diff(current, w.ledgerOf("web")); diff != "" {
				w.Errorf("the status shows the recovered ledger: -want, +got:\n%s", diff)
			}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"StateAndObject": {reason: "A lost ledger without a status begins after the highest number in the trailers of commits.", run: func(w *world) {
			w.secondRevision()
			w.disaster()
			w.create(newHome("web"))
			w.reconcile("web")
			s := w.ledgerOf("web")
			if s.Seq != 0 || s.LastNumber != 2 {
				w.Fatalf("ledger: want none, and number 2, got %+v", s)
			}
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger.Events = []ledger.Event{openedEvent("again"), orderedEvent(1, "b", "edge1")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, openedEvent("again"), orderedEvent(3, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
		}},
		"Object": {reason: "An object that was lost learns the ledger from the repository, and goes on with it.", run: func(w *world) {
			w.verifiedRevision()
			previous := w.ledgerOf("web")
			w.lose("web")
			w.restart()
			w.create(newHome("web"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(previous, w.ledgerOf("web")); diff != "" {
				w.Errorf("ledger: -want, +got:\n%s", diff)
			}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"OldGit": {reason: "A repository that was restored from an old backup continues from the status, in the next epoch.", run: func(w *world) {
			w.firstRevision()
			backup := w.refs()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.DivergencePolicy = configv1alpha1.DivergenceReapply })
			for _, ref := range []string{stateRef, "refs/heads/main"} {
				_, err := w.git.Git(w.Context(), repo, "update-ref", ref, backup[ref])
				w.must(err)
			}
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			s := w.ledgerOf("web")
			w.positionIs(s, ledger.Position{Epoch: 2, Revision: 2})
			if s.Ledger != "demo" || s.Stable != 1 {
				w.Errorf("the ledger is the same, with the verified revision: got %+v", s)
			}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")})
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
		"OldObject": {reason: "An object that was restored from an old backup follows the ledger of the repository.", run: func(w *world) {
			w.firstRevision()
			backup := w.get("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			recorded := w.ledgerOf("web")
			w.lose("web")
			status := backup.Status
			backup.ResourceVersion, backup.UID = "", ""
			w.create(backup)
			backup.Status = status
			w.must(w.kube.Status().Update(w.Context(), backup))
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(recorded, w.ledgerOf("web")); diff != "" {
				w.Errorf("ledger: -want, +got:\n%s", diff)
			}
		}},
		"OtherClaims": {reason: "The numbers of claims that were deleted are recovered by the first claim that finds the state lost.", run: func(w *world) {
			w.verifiedRevision()
			w.secondClaim()
			w.deleteState()
			w.restart()
			w.reconcile("web")
			api := newHome("api")
			api.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(api)
			w.reconcile("api")
			if s := w.ledgerOf("api"); s.Seq != 0 || s.LastNumber != 1 {
				w.Errorf("ledger: want none, and number 1, got %+v", s)
			}
		}},
		"Unreachable": {reason: "A repository that cannot be read leaves it open whether it holds a ledger.", run: func(w *world) {
			w.git.Fail(repo, 503)
			w.create(newHome("web"))
			_ = w.try("web") // It is in the condition.
			w.expect("web", v1alpha1.ReasonMemoryUnknown)
			if s := w.get("web").Status.AtProvider.Ledger; s != nil {
				w.Errorf("ledger: want none, got %+v", s)
			}
		}},
	})
}

// TestLedgerFiles plays files of the state that other versions, other clusters and other users wrote.
func TestLedgerFiles(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"UnknownFields": {reason: "Fields that a newer version wrote are written back.", run: func(w *world) {
			w.firstRevision()
			w.rewriteState(func(_ string, content map[string]any) {
				content["later"] = map[string]any{"kept": "yes"}
				if s, isState := content["state"].(map[string]any); isState {
					s["alsoLater"] = 7
				}
			})
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			claim := w.first().Spec.ForProvider.ClaimRef
			for _, path := range []string{state.LedgerPath(claim), state.RecordPath(claim)} {
				if got := w.stateFile(repo, path); !strings.Contains(got, `"kept": "yes"`) {
					w.Errorf("%s: want the unknown field, got:\n%s", path, got)
				}
			}
			if got := w.stateFile(repo, state.LedgerPath(claim)); !strings.Contains(got, `"alsoLater": 7`) {
				w.Errorf("ledger: want the unknown field of the state, got:\n%s", got)
			}
		}},
		"NewerReader": {reason: "A state that needs a newer version is left alone.", run: func(w *world) {
			w.firstRevision()
			w.rewriteState(func(_ string, content map[string]any) { content["minReader"] = 3 })
			tip := w.stateTip()
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateNewer)
			w.count(1)
			if got := w.stateTip(); got != tip {
				w.Errorf("tip of the state: want %s, got %s", tip, got)
			}
		}},
		"Malformed": {reason: "A ledger that cannot be read stops the delivery, and is not replaced.", run: func(w *world) {
			w.firstRevision()
			w.rewriteState(func(_ string, content map[string]any) { content["state"] = "nothing" })
			tip := w.stateTip()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateUntrusted)
			if got := w.stateTip(); got != tip {
				w.Errorf("tip of the state: want %s, got %s", tip, got)
			}
		}},
		"Forged": {reason: "A state that is not signed counts as lost, and the ledger continues from the status.", run: func(w *world) {
			w.sign()
			w.verifiedRevision()
			w.rewriteState(func(_ string, content map[string]any) {
				if s, isState := content["state"].(map[string]any); isState {
					s["seq"] = 99
				}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			s := w.ledgerOf("web")
			w.positionIs(s, ledger.Position{Epoch: 2, Revision: 1})
			if !s.IsVerified() || s.Seq == 99 {
				w.Errorf("ledger: want the ledger of the status, got %+v", s)
			}
		}},
		"OtherCluster": {reason: "A ledger that another cluster wrote is neither written nor shown.", run: func(w *world) {
			w.verifiedRevision()
			w.rebuild("cluster-2", "")
			w.restart()
			w.create(newHome("web"))
			tip := w.stateTip()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			if got := w.get("web").Status.AtProvider.Ledger; got != nil || w.stateTip() != tip {
				w.Errorf("ledger: want none shown, and no push, got %+v", got)
			}
		}},
		"OtherClustersFiles": {reason: "Files of another cluster are left alone, also where the state does not say who writes it.", run: func(w *world) {
			w.firstRevision()
			for _, uid := range []string{"cluster-9", ""} {
				w.rewriteState(func(_ string, content map[string]any) { content["clusterUID"] = uid })
				tip := w.stateTip()
				w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
				w.reconcile("web")
				w.expect("web", v1alpha1.ReasonOwnedElsewhere)
				if got := w.stateTip(); got != tip {
					w.Errorf("tip of the state: want %s, got %s", tip, got)
				}
			}
		}},
		"OtherClustersState": {reason: "A state that another cluster writes is left alone, also where it holds nothing of the deployment.", run: func(w *world) {
			content, err := state.EncodeOwner("cluster-9")
			w.must(err)
			w.forgeAll(map[string]string{state.OwnerPath: string(content)})
			w.create(newHome("web"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			if got := w.get("web").Status.AtProvider.Ledger; got != nil {
				w.Errorf("ledger: want none shown, got %+v", got)
			}
		}},
		"TakenOver": {reason: "A cluster that takes over goes on with the ledger.", run: func(w *world) {
			w.verifiedRevision()
			w.rebuild("cluster-2", "cluster-1")
			w.restart()
			w.create(newHome("web"))
			w.reconcile("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			if got := w.storedLedger(repo).ClusterUID; got != "cluster-2" {
				w.Errorf("cluster of the ledger: want cluster-2, got %s", got)
			}
		}},
	})
}

// TestLedgerDeleted plays the end of a deployment, and its recreation.
func TestLedgerDeleted(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"Closed": {reason: "A ledger whose delivery is deleted is closed, and keeps its number.", run: func(w *world) {
			w.secondRevision()
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatal("object: want it gone")
			}
			w.holds(nil, nil)
			s := w.storedLedger(repo).State
			if !s.IsClosed || s.LastNumber != 2 || s.Current != nil {
				w.Errorf("ledger: want it closed, with number 2, got %+v", s)
			}
			if w.hasStateFile(repo, state.RecordPath(w.first().Spec.ForProvider.ClaimRef)) {
				w.Error("record: want none")
			}
			w.create(newHome("web"))
			w.reconcile("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "c")}, openedEvent("again"), orderedEvent(3, "c", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.positionIs(w.ledgerOf("web"), ledger.Position{Epoch: 2, Revision: 3})
		}},
	})
}

// TestLedgerCrashes lets the provider die around each push of a home.
func TestLedgerCrashes(t *testing.T) {
	t.Parallel()
	for name, crash := range crashes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.verifiedRevision()
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(t, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			crash(w)
			_ = w.try("web") // It may have crashed.
			w.recover()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
			s := w.storedLedger(repo).State
			w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2})
			if s.Seq != 4 {
				t.Errorf("events are recorded once: want 4, got %d", s.Seq)
			}
		})
	}
}
