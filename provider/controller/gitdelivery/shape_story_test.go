package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// composite is a delivery of the namespaced composite with the claim's name.
func (w *world) composite(adopt bool) *v1alpha1.GitDelivery {
	w.Helper()
	d := delivery("composite", order(1, "x"), desired(w.T, "edge1", webAtE1, "x"))
	d.Spec.ForProvider.ClaimRef.APIGroup = "intentplane.dev"
	d.Spec.ForProvider.Adopt = &adopt
	return d
}

// owners are the events about owners.
func owners(events []string) []string {
	var out []string
	for _, e := range events {
		if strings.HasPrefix(e, "NotOwner") {
			out = append(out, e)
		}
	}
	return out
}

// orphan deletes the claim's delivery, and leaves its directories.
func (w *world) orphan() {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ManagementPolicies = xpv2.ManagementPolicies{
			xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
		}
	})
	w.must(w.kube.Delete(w.Context(), w.get("web")))
	w.reconcile("web")
	if !w.gone("web") {
		w.Fatal("object: want it gone")
	}
	w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
}

// TestMoveShape hands a directory over from a claim to a namespaced composite of the same name.
func TestMoveShape(t *testing.T) {
	tell(t, map[string]story{
		"Moves": {reason: "What was orphaned may be adopted by the other shape, and comes back to the first one no more", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.orphan()
			w.create(w.composite(true))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("x")}, nil)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.count(2)
		}},
		"NotAdopted": {reason: "Nobody adopts without being told to", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.orphan()
			w.create(w.composite(false))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonNotOwner)
			w.count(1)
		}},
		"StillThere": {reason: "Whoever was first keeps the directory as long as it is there", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.create(w.composite(true))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonNotOwner)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			w.reconcile("composite")
			want := []string{"NotOwner: GitDelivery team-a/composite wants a directory of this claim, and is refused: directory \"" + webAtE1 +
				"\": it belongs to IntentDeployment team-a/web of control plane \"prod\""}
			if diff := cmp.Diff(want, owners(w.told["web"])); diff != "" {
				w.Errorf("the owner is told once: -want, +got:\n%s", diff)
			}
		}},
	})
}
