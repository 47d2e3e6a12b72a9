package gitdelivery

import (
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// compose the first delivery, of a composite that lives in namespace team-a.
func (w *world) compose() *unstructured.Unstructured {
	w.Helper()
	w.must(w.kube.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}))
	xr := &unstructured.Unstructured{}
	xr.SetAPIVersion("intentplane.dev/v1alpha1")
	xr.SetKind("IntentDeployment")
	xr.SetNamespace("team-a")
	xr.SetName("web")
	xr.SetUID("web-uid")
	w.must(w.kube.Create(w.Context(), xr))
	w.create(composedBy(xr, w.first()))
	w.reconcile("web")
	return xr
}

func composedBy(xr *unstructured.Unstructured, d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	is := true
	d.SetLabels(map[string]string{xcrd.LabelKeyNamePrefixForComposed: xr.GetName()})
	d.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: xr.GetAPIVersion(), Kind: xr.GetKind(), Name: xr.GetName(), UID: xr.GetUID(), Controller: &is}})
	return d
}

// remove the delivery, as a user does, and reconcile it until it is gone.
func (w *world) remove() {
	w.Helper()
	w.must(w.kube.Delete(w.Context(), w.get("web")))
	for range 3 {
		if w.gone("web") {
			return
		}
		w.reconcile("web")
	}
	if !w.gone("web") {
		w.Fatalf("object: want it gone: %v", w.get("web").Status)
	}
}

func TestDeleteWhileCompositeLives(t *testing.T) {
	tell(t, map[string]story{
		"Retained": {reason: "A deleted GitDelivery of a living composite removes nothing, and the next one goes on without a commit.", run: func(w *world) {
			xr := w.compose()
			w.remove()
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)

			w.create(composedBy(xr, w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if h := w.ledgerOf("web"); h.LastNumber != 1 {
				w.Errorf("order of the next object: want revision 1, got %v", h)
			}
		}},
		"RepositoryDown": {reason: "A GitDelivery of a living composite goes also while its repository cannot be reached.", run: func(w *world) {
			w.compose()
			w.git.Fail(repo, http.StatusServiceUnavailable)
			w.remove()
		}},
		"NotDesired": {reason: "A GitDelivery that the composite does not ask for any more takes its directories along.", run: func(w *world) {
			w.compose()
			w.change(func(d *v1alpha1.GitDelivery) { d.SetLabels(nil) })
			w.remove()
			w.holds(nil, nil)
		}},
		"CompositeDeleted": {reason: "The deletion of the composite takes the directories along.", run: func(w *world) {
			w.must(w.kube.Delete(w.Context(), w.compose()))
			w.remove()
			w.holds(nil, nil)
		}},
		"Superseded": {reason: "A GitDelivery whose repository the deployment left goes when the composite deletes it, and then with its directories.", run: func(w *world) {
			w.compose()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.SetAnnotations(map[string]string{v1alpha1.AnnotationSuperseded: "true"})
			})
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.synced("web", corev1.ConditionFalse)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			w.change(func(d *v1alpha1.GitDelivery) { d.SetLabels(nil) })
			w.remove()
			w.holds(nil, nil)
		}},
	})
}
