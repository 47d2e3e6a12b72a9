package bundlestate

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/listing"
)

// A waker finds the BundleStates that a change of something else concerns. BundleStates that it does not find are observed an interval later.
type waker struct{ kube client.Reader }

// packageIndex finds BundleStates by their Bundles, and by the names of their packages.
func packageIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.BundleState{}, "intentplane.bundlestate.package", func(bs *v1alpha1.BundleState) []string {
		return append(packageKeys(bs), bundleIndexKey(bs.Spec.ForProvider.BundleRef))
	})
}

// bundleIndexKey is the key of the BundleState of a Bundle.
func bundleIndexKey(ref v1alpha1.BundleReference) string {
	return "bundle/" + ref.Group + "/" + ref.Name
}

// packageIndexKey is the key of the BundleStates with a package of a name.
func packageIndexKey(name string) string { return "package/" + name }

func packageKeys(bs *v1alpha1.BundleState) []string {
	out := make([]string, 0, len(bs.Spec.ForProvider.Packages)+1)
	for i := range bs.Spec.ForProvider.Packages {
		out = append(out, packageIndexKey(bs.Spec.ForProvider.Packages[i].Name))
	}
	return out
}

// requestsFor returns the BundleStates of a namespace with any of some keys.
func (w waker) requestsFor(ctx context.Context, namespace string, keys ...string) []reconcile.Request {
	out, _ := packageIndex().Requests(ctx, w.kube, &v1alpha1.BundleStateList{}, keys, client.InNamespace(namespace))
	return out
}

// requestsForPackage wakes the bundle that made an object, and all bundles that name it.
func (w waker) requestsForPackage(ctx context.Context, o client.Object) []reconcile.Request {
	labels := o.GetLabels()
	owner := v1alpha1.BundleReference{Group: labels[v1alpha1.LabelBundleGroup], Name: labels[v1alpha1.LabelBundle]}
	return w.requestsFor(ctx, o.GetNamespace(), bundleIndexKey(owner), packageIndexKey(o.GetName()))
}

// requestsForNeighbour wakes the other bundles that have a package of one.
func (w waker) requestsForNeighbour(ctx context.Context, o client.Object) []reconcile.Request {
	changed, ok := o.(*v1alpha1.BundleState)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(w.requestsFor(ctx, o.GetNamespace(), packageKeys(changed)...), func(r reconcile.Request) bool { return r.Name == o.GetName() })
}

// requestsForRecord wakes the bundle whose record a Secret is.
func (w waker) requestsForRecord(_ context.Context, o client.Object) []reconcile.Request {
	name, ok := strings.CutPrefix(o.GetName(), state.Prefix)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}
