package gitdelivery

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// ofComposite returns a delivery with a name that a composite controls.
func ofComposite(d *v1alpha1.GitDelivery, name string, uid types.UID) *v1alpha1.GitDelivery {
	d.Name, d.UID = name, types.UID("uid-"+name)
	d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "web", UID: uid, Controller: new(true)}}
	return d
}

// TestTwin deletes one of two deliveries to one repository.
func TestTwin(t *testing.T) {
	t.Parallel()
	deleteWeb := func(w *world) {
		w.must(w.kube.Delete(w.Context(), w.get("web")))
		w.reconcile("web")
		w.reconcile("web")
		if !w.gone("web") {
			w.Fatalf("object: want it gone: %v", w.get("web").Status)
		}
	}
	tell(t, map[string]story{
		"Stays": {reason: "The directories belong to the remaining delivery of the same composite, and are removed with that delivery.", run: func(w *world) {
			w.create(ofComposite(w.first(), "web", "composite"))
			w.reconcile("web")
			w.create(ofComposite(w.first(), "web-again", "composite"))
			deleteWeb(w)
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			w.reconcile("web-again") // It has a finalizer now.
			w.must(w.kube.Delete(w.Context(), w.get("web-again")))
			w.reconcile("web-again")
			w.reconcile("web-again")
			w.holds(nil, nil)
		}},
		"BothDeleted": {reason: "Of two that are deleted at once, the first one removes all.", run: func(w *world) {
			w.create(ofComposite(w.first(), "web", "composite"))
			w.reconcile("web")
			w.create(ofComposite(w.first(), "web-again", "composite"))
			w.reconcile("web-again") // It has a finalizer, and so it is there while it is deleted.
			w.must(w.kube.Delete(w.Context(), w.get("web-again")))
			deleteWeb(w)
			w.holds(nil, nil)
		}},
		"OtherComposite": {reason: "A delivery of a composite that was made again under the same name begins from nothing.", run: func(w *world) {
			w.create(ofComposite(w.first(), "web", "composite"))
			w.reconcile("web")
			w.create(ofComposite(w.first(), "web-again", "another"))
			deleteWeb(w)
			w.holds(nil, nil)
		}},
	})
}
