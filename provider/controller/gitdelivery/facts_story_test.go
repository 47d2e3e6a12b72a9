package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// deliverTo makes the configuration and the order name another branch, and delivers there.
func (w *world) deliverTo(branch string, revision int64, says string) {
	w.Helper()
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.Branch = branch })
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(revision, says))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, says)}
		d.Spec.ForProvider.Trees[0].Branch = branch
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
}

func (w *world) fork(branch string) {
	w.Helper()
	_, err := w.git.Git(w.Context(), repo, "branch", branch, "main")
	w.must(err)
}

// formerBranches compares the former branches of the status.
func (w *world) formerBranches(want ...v1alpha1.FormerBranch) {
	w.Helper()
	if diff := cmp.Diff(want, w.get("web").Status.AtProvider.FormerBranches); diff != "" {
		w.Errorf("status.atProvider.formerBranches: -want, +got:\n%s", diff)
	}
}

func TestFormerBranches(t *testing.T) {
	t.Parallel()
	main := v1alpha1.FormerBranch{Branch: "main", Paths: []string{webAtE1}}
	begin := func(w *world) {
		w.create(w.first())
		w.reconcile("web")
		w.formerBranches()
		w.fork("release")
		w.deliverTo("release", 2, "b")
	}
	tell(t, map[string]story{
		"Left": {reason: "The status names the directories on the branch that a configuration left, also after a restart, and one event reports them.", run: func(w *world) {
			begin(w)
			tip := w.refs()["refs/heads/main"]
			w.formerBranches(main)
			w.restart()
			w.forget()
			w.reconcile("web")
			w.formerBranches(main)
			w.deliverTo("release", 3, "c")
			w.formerBranches(main)
			if got := strings.Count(strings.Join(w.told["web"], "\n"), `branch "main" does not get the deliveries any more`); got != 2 { // Once, and once for the status that was lost.
				w.Errorf("events of the former branch: want 2, got %d: %q", got, w.told["web"])
			}
			if diff := cmp.Diff(tip, w.refs()["refs/heads/main"]); diff != "" {
				w.Errorf("nothing is pushed to the former branch: -want, +got:\n%s", diff)
			}
		}},
		"Forgotten": {reason: "The annotation makes the status and the state forget a former branch.", run: func(w *world) {
			begin(w)
			w.change(func(d *v1alpha1.GitDelivery) {
				d.SetAnnotations(map[string]string{v1alpha1.AnnotationForgetBranches: "main"})
			})
			w.reconcile("web")
			w.formerBranches()
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"Back": {reason: "A branch that the configuration names again is current, and the branch that it left is former.", run: func(w *world) {
			begin(w)
			w.deliverTo("main", 3, "c")
			w.formerBranches(v1alpha1.FormerBranch{Branch: "release", Paths: []string{webAtE1}})
		}},
	})
}
