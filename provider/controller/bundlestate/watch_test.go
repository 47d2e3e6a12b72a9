package bundlestate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func stateOf(namespace, name string, packages ...string) *v1alpha1.BundleState {
	bs := &v1alpha1.BundleState{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	bs.Spec.ForProvider.BundleRef = v1alpha1.BundleReference{Group: group, Name: name}
	for _, p := range packages {
		bs.Spec.ForProvider.Packages = append(bs.Spec.ForProvider.Packages, v1alpha1.BundlePackage{Name: p})
	}
	return bs
}

// TestEventReadsItsBundles has three bundles, and a hundred others without a package of theirs in the namespace.
func TestEventReadsItsBundles(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(
		stateOf("team-a", "shop", "db", "web"), stateOf("team-a", "blog", "db"), stateOf("team-b", "shop", "db"),
	)}
	for i := range 100 {
		b.WithObjects(stateOf("team-a", fmt.Sprintf("other-%d", i), fmt.Sprintf("package-%d", i)))
	}
	if err := listing.AddIndexes(t.Context(), b, packageIndex()); err != nil {
		t.Fatal(err)
	}
	counter := &cacheclient.Counter{Client: b.Build()}
	w := waker{kube: counter}
	requests := func(names ...string) []reconcile.Request {
		out := []reconcile.Request{}
		for _, name := range names {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: name}})
		}
		return out
	}
	packageOf := func(name, bundle string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, Labels: map[string]string{v1alpha1.LabelBundleGroup: group, v1alpha1.LabelBundle: bundle},
		}}
	}
	cases := map[string]struct {
		reason string
		got    func() []reconcile.Request
		want   []reconcile.Request
	}{
		"Package": {
			reason: "An object wakes the Bundle of its labels, and the Bundles of its namespace that name it.", want: requests("blog", "shop"),
			got: func() []reconcile.Request { return w.requestsForPackage(t.Context(), packageOf("db", "blog")) },
		},
		"Left": {
			reason: "An object that no spec names wakes the Bundle of its labels.", want: requests("shop"),
			got: func() []reconcile.Request { return w.requestsForPackage(t.Context(), packageOf("cache", "shop")) },
		},
		"Neighbour": {
			reason: "A Bundle wakes the other Bundles of its namespace that have a package of it.", want: requests("blog"),
			got: func() []reconcile.Request {
				return w.requestsForNeighbour(t.Context(), stateOf("team-a", "shop", "db", "web"))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			counter.Listed = 0
			if diff := cmp.Diff(tc.want, tc.got()); diff != "" || counter.Listed > 3 {
				t.Errorf("\n%s It reads no other Bundle.\n%d objects, -want, +got:\n%s", tc.reason, counter.Listed, diff)
			}
		})
	}
}
