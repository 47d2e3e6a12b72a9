package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

// leave moves the delivery from edge1 to edge2, and verifies the order.
func (w *world) leave(policy v1alpha1.DriftPolicy) {
	w.Helper()
	w.create(w.first())
	w.reconcile("web")
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.DriftPolicy = policy
		setWish(d, order(2, "b"))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	w.change(func(d *v1alpha1.GitDelivery) {
		setVerdict(d, ledger.Verdict{Result: ledger.VerdictVerified})
	})
}

// TestLeft removes a directory that the order has no more.
func TestLeft(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Reported": {reason: "A directory that the provider removed is not drift.", run: func(w *world) {
			w.leave(v1alpha1.DriftReport)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
			w.holds(map[string]tree.Files{webAtE2: files("b")}, nil)
			if message := w.commits()[0].Message; strings.Contains(message, "other files") {
				w.Errorf("message: want no other commit named, got %q", message)
			}
		}},
		"Refused": {reason: "A server that refuses the removal does not hold back the verdict, and the condition names the directory.", run: func(w *world) {
			w.leave(v1alpha1.DriftRestore)
			w.hook("update", `case "$1" in refs/heads/main) echo "nothing is removed" >&2; exit 1;; esac`)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			if message := w.get("web").GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(message, "removing "+webAtE1+": ") {
				w.Errorf("message: want the directory named, got %q", message)
			}
			if observed := w.get("web").Status.AtProvider; !observed.Ledger.IsVerified() {
				w.Errorf("status: want the verdict recorded, got %v", observed)
			}
			w.count(2)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("b")}, nil)
			w.hook("update", "exit 0")
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
			w.holds(map[string]tree.Files{webAtE2: files("b")}, nil)
		}},
	})
}

// TestMovedAndRefused records the delivered trees of a revision, and not a directory whose removal was refused.
func TestMovedAndRefused(t *testing.T) {
	t.Parallel()
	const moved = "clusters/moved/team-a/web"
	tell(t, map[string]story{
		"Refused": {reason: "A server that does not let the old directory go", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			s := &catalogv1alpha1.Site{}
			w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, s))
			s.Spec.Repository.Path = "clusters/moved"
			w.must(w.kube.Update(w.Context(), s))
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", moved, "b")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.recalls(2, "b")
			w.change(func(d *v1alpha1.GitDelivery) {
				setVerdict(d, ledger.Verdict{Result: ledger.VerdictVerified})
			})
			w.hook("update", `case "$1" in refs/heads/main) echo "nothing is removed" >&2; exit 1;; esac`)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.recalls(2, "b")
			w.holds(map[string]tree.Files{webAtE1: files("a"), moved: files("b")}, nil)
			w.hook("update", "exit 0")
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.recalls(2, "b")
			w.holds(map[string]tree.Files{moved: files("b")}, nil)
		}},
	})
}

// recalls checks that the history has one tree of edge1 for a revision.
func (w *world) recalls(revision int64, content string) {
	w.Helper()
	var got []v1alpha1.HistoryTree
	for _, h := range w.get("web").Status.AtProvider.History {
		if h.Revision == revision {
			got = h.Trees
		}
	}
	if diff := cmp.Diff([]v1alpha1.HistoryTree{{Site: "edge1", Tree: tree.ID(files(content))}}, got); diff != "" {
		w.Errorf("trees of revision %d in the history: -want, +got:\n%s", revision, diff)
	}
}
