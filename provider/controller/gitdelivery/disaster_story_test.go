package gitdelivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// ahead leaves revision 2 in the state alone, as a provider does that dies before the branch follows.
func (w *world) ahead() {
	w.Helper()
	w.create(w.first())
	w.reconcile("web")
	w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
	w.hook("update", `case "$1" in refs/heads/main) exit 1;; esac`)
	w.restart()
	w.reorder(2, "b")
	_ = w.try("web") // It is in the condition.
	w.expect("web", v1alpha1.ReasonPolicyDenied)
	w.hook("update", "exit 0")
	w.count(1)
}

// TestDisasterInTheMiddle plays disasters of the management cluster, and of Git, during a delivery.
func TestDisasterInTheMiddle(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Rebuilt": {reason: "An attempt of the lost cluster is carried out once, with its revision number.", run: func(w *world) {
			w.ahead()
			w.rebuild("cluster-2", "cluster-1")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(int64(2), w.get("web").Status.AtProvider.Ledger.LastNumber); diff != "" {
				w.Errorf("order that is known: -want, +got:\n%s", diff)
			}
			w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
		"OldBackup": {reason: "A backup from the middle of an attempt does not make it again", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			var backup *v1alpha1.GitDelivery
			w.begun = func() { backup = w.get("web") } // The attempt is written down, and nothing is pushed.
			w.reorder(2, "b")
			w.reconcile("web")
			w.begun = func() {}
			w.reorder(3, "c")
			w.reconcile("web")
			w.count(3)
			w.lose("web")
			status := backup.Status
			backup.ResourceVersion, backup.UID = "", ""
			w.create(backup)
			backup.Status = status
			w.restoreStatus(backup)
			w.restart()
			w.must(w.try("web"))
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.count(3)
			if observed := w.get("web").Status.AtProvider; observed.Ledger.LastNumber != 3 || len(observed.History) != 3 {
				w.Errorf("status: want revision 3 and its history, got %v", observed)
			}
			w.holds(map[string]tree.Files{webAtE1: files("c")}, nil)
		}},
		"OldGit": {reason: "A Git that is restored to before an interrupted attempt gets the revision once.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			refs, err := w.git.Refs(w.Context(), repo)
			w.must(err)
			w.reorder(2, "b")
			w.git.AfterPush(repo, func() { w.dead = true })
			_ = w.try("web") // Who is dead cannot say so.
			w.recover()
			for _, ref := range []string{stateRef, "refs/heads/main"} {
				_, err = w.git.Git(w.Context(), repo, "update-ref", ref, refs[ref])
				w.must(err)
			}
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
		"Stopped": {reason: "A history that was reset to an older commit than in the status stops the next revision.", run: func(w *world) {
			w.twoRevisions()
			w.reset("main~1")
			w.reorder(3, "c")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.count(1)
			w.diverge(configv1alpha1.DivergenceReapply)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
		}},
		"WayOut": {reason: "A manual order after the head in the status is accepted, and writes no directory again.", run: func(w *world) {
			w.twoRevisions()
			w.lose("web")
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.ask(order(w.ledgerOf("web").LastNumber, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.ask(order(3, "c"), desired(w.T, "edge1", webAtE1, "c"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
		}},
	})
}
