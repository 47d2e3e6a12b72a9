package gitdelivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestDiverged(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Stop": {reason: "Where history was rewritten nothing is written, until the branch is as it was", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			ours := w.commits()[0].ID
			w.reset("main~1")
			w.push(map[string]string{"theirs": "x\n"})
			for range 2 {
				w.reconcile("web")
				w.expect("web", v1alpha1.ReasonDiverged)
				w.synced("web", corev1.ConditionTrue)
				w.count(1)
				w.restart()
			}
			w.reset(ours)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
		}},
		"StopForNewOrders": {reason: "A new order is not written on a history that another user rewrote.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.reset("main~1")
			w.reorder(2, "b")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.count(0)
		}},
		"Reapply": {reason: "Who wants it has it delivered again, on top and without force, also who only reports drift", run: func(w *world) {
			d := w.first()
			d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport
			w.create(d)
			w.reconcile("web")
			w.reset("main~1")
			theirs := w.push(map[string]string{"theirs": "x\n"})
			w.diverge(configv1alpha1.DivergenceReapply)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, map[string]string{"theirs": "x\n"})
			if diff := cmp.Diff([]string{theirs}, w.commits()[0].Parents); diff != "" {
				w.Errorf("parents: -want, +got:\n%s", diff)
			}
			w.diverge(configv1alpha1.DivergenceStop)
			w.reorder(2, "b")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"SameTrees": {reason: "A history with the same directories is evidence; once it is accepted, deliveries go on from it", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			out, err := w.git.Git(w.Context(), repo, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Squash", "main^{tree}")
			w.must(err)
			w.reset(out[:40])
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.diverge(configv1alpha1.DivergenceReapply)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(0)
			w.diverge(configv1alpha1.DivergenceStop)
			w.reorder(2, "b")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
		}},
		"BranchDeleted": {reason: "A branch that was deleted is made again only for who wants it", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Git(w.Context(), repo, "branch", "other", "main")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", "-d", "refs/heads/main")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.diverge(configv1alpha1.DivergenceReapply)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(0)
		}},
		"StatusLost": {reason: "A lost status is restored from the state.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.reorder(2, "b")
			w.reconcile("web")
			w.reset("main~2")
			w.push(map[string]string{"theirs": "x\n"})
			w.forget()
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.count(1)
		}},
		"Unknown": {reason: "A commit that the server has thrown away is not in the branch", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.reset("main~1")
			_, err := w.git.Git(w.Context(), repo, "-c", "gc.reflogExpire=now", "gc", "--prune=now", "--quiet")
			w.must(err)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
		}},
	})
}

// reset the branch by force.
func (w *world) reset(commit string) {
	w.Helper()
	_, err := w.git.Git(w.Context(), repo, "update-ref", "refs/heads/main", commit)
	w.must(err)
}

// reorder requests another revision.
func (w *world) reorder(revision int64, says string) {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(revision, says))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, says)}
	})
}

func (w *world) diverge(p configv1alpha1.DivergencePolicy) {
	w.Helper()
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.DivergencePolicy = p })
}
