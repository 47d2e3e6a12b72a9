package gitdelivery

import (
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// deep is a delivery of another claim, at a Site whose path leads into the directory of the claim web.
func (w *world) deep() (d *v1alpha1.GitDelivery, path string) {
	w.Helper()
	s := site("deep")
	s.Spec.Repository.Path = webAtE1
	w.must(w.kube.Create(w.Context(), s))
	path = webAtE1 + "/team-a/other"
	d = delivery("other", order(1, "b"), desired(w.T, "deep", path, "b"))
	d.Spec.ForProvider.ClaimRef.Name = "other"
	return d, path
}

func TestEntangled(t *testing.T) {
	adopt := func(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
		d.Spec.ForProvider.Adopt = new(true)
		return d
	}
	tell(t, map[string]story{
		"Inner": {reason: "Nobody writes into another claim's directory: to that one it would be drift, and be removed", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			d, _ := w.deep()
			w.create(adopt(d))
			w.reconcile("other")
			w.expect("other", v1alpha1.ReasonNotOwner)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Outer": {reason: "Nobody writes over another claim's directory, whatever may be adopted", run: func(w *world) {
			d, path := w.deep()
			w.create(d)
			w.reconcile("other")
			w.expect("other", v1alpha1.ReasonDelivered)
			w.create(adopt(w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(map[string]tree.Files{path: files("b")}, nil)
		}},
		"Stranger": {reason: "A file of a marker's name that is none is a stranger's, and may be adopted", run: func(w *world) {
			w.push(map[string]string{webAtE1 + "/x/.intentplane": "hello\n", "clusters/.intentplane": "hello\n"})
			w.create(adopt(w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
	})
}
