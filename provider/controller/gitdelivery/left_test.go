package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// leave edge1 for edge2, and say that the order is verified.
func (w *world) leave(policy v1alpha1.DriftPolicy) {
	w.Helper()
	w.create(w.first())
	w.reconcile("web")
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.DriftPolicy = policy
		d.Spec.ForProvider.Order = order(2, "b")
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Order.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
	})
}

// TestLeft removes a directory that the order has no more.
func TestLeft(t *testing.T) {
	tell(t, map[string]story{
		"Reported": {reason: "What we remove ourselves is nobody's drift", run: func(w *world) {
			w.leave(v1alpha1.DriftReport)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
			w.holds(map[string]tree.Files{webAtE2: files("b")}, nil)
			if said := w.commits()[0].Message; strings.Contains(said, "other files") {
				w.Errorf("message: want nobody blamed, got %q", said)
			}
		}},
		"Refused": {reason: "A server that does not let it go holds up no verdict, and is told of", run: func(w *world) {
			w.leave(v1alpha1.DriftRestore)
			w.hook("update", `case "$1" in refs/heads/main) echo "nothing is removed" >&2; exit 1;; esac`)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			if said := w.get("web").GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(said, "removing "+webAtE1+": ") {
				w.Errorf("message: want the directory named, got %q", said)
			}
			if at := w.get("web").Status.AtProvider; !at.Order.Verified() || at.History[len(at.History)-1].Verdict == nil {
				w.Errorf("status: want the verdict recorded, got %v", at)
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
