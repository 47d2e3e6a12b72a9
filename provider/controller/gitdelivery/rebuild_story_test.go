package gitdelivery

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// disaster takes the state and the object.
func (w *world) disaster() {
	w.Helper()
	w.deleteState()
	w.lose("web")
	w.restart()
}

// starts creates a delivery with revision 1, like a function without a ledger.
func (w *world) starts(request string) {
	w.Helper()
	w.create(delivery("web", order(1, request), desired(w.T, "edge1", webAtE1, request)))
	w.reconcile("web")
}

func TestRecover(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Forward": {reason: "Our commits have the last revision; no directory is written, and no revision is verified.", run: func(w *world) {
			w.twoRevisions()
			w.ask(verified(order(2, "b")), desired(w.T, "edge1", webAtE1, "b"))
			w.disaster()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(int64(2), observed.Ledger.LastNumber); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
			w.ask(order(3, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.held(files("b"))
		}},
		"Back": {reason: "The commits of a rollback name the number of the revision that was rejected.", run: func(w *world) {
			w.twoRevisions()
			w.ask(back(2, "b", 2, 1), restore("edge1", webAtE1, "a"))
			w.disaster()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(int64(2), observed.Ledger.LastNumber); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
		}},
		"StatusKnowsMore": {reason: "A status with verdicts restores them.", run: func(w *world) {
			w.twoRevisions()
			w.deleteState()
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.forget()
			w.restart()
			w.reconcile("web")
			if observed := w.get("web").Status.AtProvider; len(observed.History) != 2 || !observed.History[0].IsTarget {
				w.Errorf("history: want revision 1 verified: %v", observed.History)
			}
			w.held(files("a"), files("b"))
		}},
		"EntryLost": {reason: "The directory distinguishes a claim with a removed entry of the state from a new claim.", run: func(w *world) {
			w.twoRevisions()
			_, err := w.git.Git(w.Context(), repo, "update-ref", "refs/heads/tmp", stateRef)
			w.must(err)
			_, err = w.git.Remove(w.Context(), repo, "tmp", []string{"claims.intentplane.dev/team-a/web"}, "Remove")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, "refs/heads/tmp")
			w.must(err)
			w.lose("web")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.count(2)
		}},
		"OldSites": {reason: "Directories of former sites are removed after a loss of the state.", run: func(w *world) {
			w.twoRevisions()
			w.ask(order(3, "c"), desired(w.T, "edge1", webAtE1, "c"), desired(w.T, "edge2", webAtE2, "c"))
			w.disaster()
			w.starts("c")
			w.ask(order(4, "d"), desired(w.T, "edge1", webAtE1, "d"))
			w.verify()
			w.holds(map[string]tree.Files{webAtE1: files("d")}, nil)
		}},
		"Others": {reason: "The first delivery recovers all records, so that a deleted claim continues its revision numbers.", run: func(w *world) {
			w.create(w.first())
			api := delivery("api", order(7, "x"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "x"))
			api.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(api.DeepCopy())
			w.reconcile("web")
			w.reconcile("api")
			w.must(w.kube.Delete(w.Context(), w.get("api")))
			w.reconcile("api")
			w.reconcile("api")
			w.deleteState()
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.restart()
			setWish(api, order(1, "x"))
			w.create(api)
			w.reconcile("api")
			w.expect("api", v1alpha1.ReasonOrderBehind)
			if o := w.ledgerOf("api"); o.LastNumber != 7 {
				w.Errorf("order: want the tombstone of revision 7, got %v", o)
			}
		}},
		"OtherControlPlane": {reason: "Commits of another control plane do not count.", run: func(w *world) {
			w.push(map[string]string{"x": "y"})
			_, err := w.git.Commit(w.Context(), repo, "main", map[string]string{"x": "z"}, forgery("staging", "cluster-1", 9))
			w.must(err)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"RebuiltCluster": {reason: "The state of another cluster with this name is hidden, until it is taken over.", run: func(w *world) {
			w.twoRevisions()
			w.deleteState()
			w.rebuild("cluster-2", "")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			if observed := w.get("web").Status.AtProvider; observed.Ledger != nil {
				w.Errorf("status: want nothing of the other cluster, got %v", observed.Ledger)
			}
			w.rebuild("cluster-2", "cluster-1")
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.ask(order(3, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"MemoryUnknown": {reason: "A claim without a memory takes no order while the repository is unreadable.", run: func(w *world) {
			w.twoRevisions()
			w.disaster()
			w.git.Fail(repo, 503)
			w.starts("b")
			w.expect("web", v1alpha1.ReasonMemoryUnknown)
			w.synced("web", corev1.ConditionFalse)
		}},
	})
}

// forgery returns a commit message that another user may write.
func forgery(controlPlane, cluster string, revision int64) string {
	return fmt.Sprintf("Deliver\n\nIntentplane-Claim: claims.intentplane.dev/IntentDeployment team-a/web\nIntentplane-Control-Plane: %s\n"+
		"Intentplane-Cluster: %s\nIntentplane-Revision: %d\nIntentplane-Step: 0\nIntentplane-Attempt: 0\nIntentplane-Request: x\n", controlPlane, cluster, revision)
}

// TestDisaster plays disasters of the management cluster during the delivery of claims.
func TestDisaster(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Rebuilt": {reason: "A rebuilt cluster continues with revision, verdict and target once spec.takeOverFrom is set.", run: func(w *world) {
			w.twoRevisions()
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			previous := w.get("web").Status.AtProvider
			w.rebuild("cluster-2", "cluster-1")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(previous.Ledger.Position(), observed.Ledger.Position()); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(previous.History, observed.History); diff != "" {
				w.Errorf("history: -want, +got:\n%s", diff)
			}
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			// Only the marker says something else now: the trees are the same.
			w.count(4)
			if diff := cmp.Diff(previous.Trees, w.get("web").Status.AtProvider.Trees); diff != "" {
				w.Errorf("trees: -want, +got:\n%s", diff)
			}
			// Once means once: the old cluster, were it alive, would not be asked.
			w.rebuild("cluster-1", "")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			w.count(4)
		}},
		"OldBackup": {reason: "An old backup over newer Git writes nothing, reads the recorded state, and continues.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			backup := w.get("web")
			w.ask(verified(order(1, "a")), desired(w.T, "edge1", webAtE1, "a"))
			w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.lose("web")
			status := backup.Status
			backup.ResourceVersion, backup.UID = "", ""
			w.create(backup)
			backup.Status = status
			w.restoreStatus(backup)
			w.restart()
			w.must(w.try("web"))
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.count(2)
			observed := w.get("web").Status.AtProvider
			if observed.Ledger.LastNumber != 2 || len(observed.History) != 2 || !observed.History[0].IsTarget {
				w.Errorf("status: want revision 2, and 1 verified: %v", observed)
			}
			w.ask(order(3, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
		}},
		"OldGit": {reason: "An old Git under newer objects stops the delivery. Reapply restores revision and verdict.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			refs, err := w.git.Refs(w.Context(), repo)
			w.must(err)
			w.ask(verified(order(1, "a")), desired(w.T, "edge1", webAtE1, "a"))
			w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
			for _, ref := range []string{stateRef, "refs/heads/main"} {
				_, err = w.git.Git(w.Context(), repo, "update-ref", ref, refs[ref])
				w.must(err)
			}
			w.collect()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.count(1)
			w.diverge(configv1alpha1.DivergenceReapply)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			observed := w.get("web").Status.AtProvider
			if observed.Ledger.LastNumber != 2 || len(observed.History) != 2 || !observed.History[0].IsTarget {
				w.Errorf("status: want revision 2, and 1 verified: %v", observed)
			}
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"TwoClusters": {reason: "A second cluster of the same name writes nothing, also at a Site without any files.", run: func(w *world) {
			w.twoRevisions()
			w.rebuild("cluster-2", "")
			w.restart()
			d := delivery("web", order(9, "z"), desired(w.T, "edge2", webAtE2, "z"))
			w.create(d)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			w.count(2)
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatal("object: want it gone")
			}
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
		"NewClaimOfTwo": {reason: "A claim that only the second cluster has waits for the takeover, also without a state.", run: func(w *world) {
			w.twoRevisions()
			w.rebuild("cluster-2", "")
			d := delivery("api", order(1, "z"), desired(w.T, "edge2", "clusters/edge2/team-a/api", "z"))
			d.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(d)
			for range 2 {
				w.restart()
				w.reconcile("api")
				w.expect("api", v1alpha1.ReasonOwnedElsewhere)
				w.count(2)
				w.deleteState()
			}
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.TakeOverFrom = "cluster-1" })
			w.reconcile("api")
			w.expect("api", v1alpha1.ReasonDelivered)
			w.count(3)
		}},
		"ForgedOwner": {reason: "The provider does not trust a state whose owner it cannot read.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Commit(w.Context(), repo, "forged", map[string]string{"owner.json": "{}"}, "Forge")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, "refs/heads/forged")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateUntrusted)
		}},
		"HiddenOwner": {reason: "A directory in the place of the owner makes the state untrusted, and the provider writes nothing.", run: func(w *world) {
			w.forgeAll(map[string]string{"owner.json/x": "y"})
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateUntrusted)
			w.count(0)
		}},
		"HiddenLedger": {reason: "A directory in the place of the ledger makes the state untrusted, and the provider writes nothing.", run: func(w *world) {
			w.forgeAll(map[string]string{state.LedgerPath(w.first().Spec.ForProvider.ClaimRef) + "/x": "y"})
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateUntrusted)
			w.count(0)
		}},
	})
}
