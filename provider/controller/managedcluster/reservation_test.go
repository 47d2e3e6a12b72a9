package managedcluster

import (
	"context"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/engines"
)

// A blindManagement does not show objects that were made since it was created.
type blindManagement struct{ managementCluster }

func (b blindManagement) Get(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error) {
	if strings.HasPrefix(ref.Kind, "CAPT") || ref.Kind == desired.KindCluster {
		return nil, nil //nolint:nilnil // This means that the object does not exist.
	}
	return b.managementCluster.Get(ctx, ref)
}

func (b blindManagement) Everywhere(context.Context, engines.Ref) ([]*unstructured.Unstructured, error) {
	return nil, nil
}

// A leaselessReader shows no reservation, as before another ManagedCluster makes one.
type leaselessReader struct{ *testEnv }

func (u leaselessReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*coordinationv1.Lease); ok {
		return kerrors.NewNotFound(coordinationv1.Resource("leases"), key.Name)
	}
	return u.testEnv.Get(ctx, key, o, opts...)
}

// newRivals returns two ManagedClusters that make a cluster of one name, in two namespaces or in one.
func newRivals(t *testing.T, p v1alpha1.ManagedClusterParameters, second types.NamespacedName) (*testEnv, []types.NamespacedName) {
	t.Helper()
	w := newWorld(t)
	w.installClusterAPI()
	for _, name := range []string{"eks", "vpc"} {
		w.putYAML("WorkspaceTemplate", "metadata: {name: "+name+", namespace: team-b}")
	}
	w.create(p)
	mc := w.get()
	mc.ObjectMeta = metav1.ObjectMeta{Namespace: second.Namespace, Name: second.Name, UID: "second-uid", Generation: 1}
	w.must(w.Create(t.Context(), mc))
	t.Cleanup(func() { w.c.pool.Forget(second) })
	return w, []types.NamespacedName{key(), second}
}

// newExternal returns the external of a ManagedCluster, with a cache that shows nothing that is made after this.
func (w *testEnv) newExternal(name types.NamespacedName) (*external, *v1alpha1.ManagedCluster) {
	w.Helper()
	mc := &v1alpha1.ManagedCluster{}
	w.must(w.Get(w.Context(), name, mc))
	look := w.c.pool.Look(name)
	w.Cleanup(look.Done)
	h, err := look.Home()
	w.must(err)
	e := &external{connector: w.c, look: look, management: blindManagement{h}, note: w.c.memory.NoteOf(mc)}
	_, err = e.Observe(w.Context(), mc)
	w.must(err)
	return e, mc
}

// appliesByOwner counts the applies of each owner.
func (w *testEnv) appliesByOwner() map[string]int {
	w.Helper()
	out := map[string]int{}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		all, err := w.capi.Resource(w.kinds[kind]).List(w.Context(), metav1.ListOptions{})
		w.must(err)
		for _, o := range all.Items {
			out[o.GetLabels()[v1alpha1.LabelOwner]]++
		}
	}
	return out
}

func topologyParameters() v1alpha1.ManagedClusterParameters {
	return v1alpha1.ManagedClusterParameters{
		Cluster: v1alpha1.ClusterReference{Name: "c1"},
		ClusterDescription: v1alpha1.ClusterDescription{
			Type: v1alpha1.TypeTopology, Version: "v1.34.2", Topology: &v1alpha1.Topology{ClassRef: v1alpha1.ClassReference{Name: "a"}},
		},
	}
}

// TestConcurrentReservations lets two ManagedClusters observe that the name is free. The first reservation gets the cluster, and the other
// ManagedCluster writes nothing, though its cache never shows the reservation.
func TestConcurrentReservations(t *testing.T) {
	elsewhere, beside := types.NamespacedName{Namespace: "team-b", Name: "prod"}, types.NamespacedName{Namespace: "team-a", Name: "other"}
	cases := map[string]struct {
		reason string
		spec   v1alpha1.ManagedClusterParameters
		second types.NamespacedName
		first  int
		// atOnce hides the first reservation from the second ManagedCluster until it tries to make its own.
		atOnce bool
		want   map[string]int
		taken  bool
	}{
		"First": {
			reason: "CAPT's names are unique over all namespaces.",
			spec:   captParameters(), second: elsewhere, want: map[string]int{"mc-uid": 3}, taken: true,
		},
		"Second": {
			reason: "The ManagedCluster that reserves the name first has it.",
			spec:   captParameters(), second: elsewhere, first: 1, want: map[string]int{"second-uid": 3}, taken: true,
		},
		"AtOnce": {
			reason: "The API server accepts one of two reservations at the same moment.",
			spec:   captParameters(), second: elsewhere, atOnce: true, want: map[string]int{"mc-uid": 3}, taken: true,
		},
		"Namespace": {
			reason: "In one namespace there is one Cluster of a name.",
			spec:   topologyParameters(), second: beside, want: map[string]int{"mc-uid": 1}, taken: true,
		},
		"Apart": {
			reason: "A Cluster of a ClusterClass may have the name of a Cluster in another namespace.",
			spec:   topologyParameters(), second: elsewhere, want: map[string]int{"mc-uid": 1, "second-uid": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, rivals := newRivals(t, tc.spec, tc.second)
			first, mc := w.newExternal(rivals[tc.first])
			second, rival := w.newExternal(rivals[1-tc.first])
			_, err := first.Update(t.Context(), mc)
			w.must(err)
			if tc.atOnce {
				c := *w.c
				c.live = leaselessReader{w}
				second.connector = &c
			}
			for range 2 { // A further try of the second ManagedCluster changes nothing either.
				_, err = second.Update(t.Context(), rival)
				w.must(err)
			}
			if diff := cmp.Diff(tc.want, w.appliesByOwner()); diff != "" {
				t.Errorf("\n%s\nobjects by their owner: -want, +got:\n%s", tc.reason, diff)
			}
			if c := rival.Status.GetCondition(xpv2.TypeReady); (c.Reason == v1alpha1.ReasonNameTaken) != tc.taken || tc.taken && c.Message != takenByReservation {
				t.Errorf("\n%s\nthe other one says %+v", tc.reason, c)
			}
			third, retried := w.newExternal(rivals[1-tc.first])
			if c := retried.Status.GetCondition(xpv2.TypeReady); tc.taken && (len(third.decision.apply) > 0 || c.Reason != v1alpha1.ReasonNameTaken) {
				t.Errorf("\n%s\nit says %+v the next time, and would apply %d objects", tc.reason, c, len(third.decision.apply))
			}
		})
	}
}

// TestReservation checks that a reservation ends with its holder.
func TestReservation(t *testing.T) {
	elsewhere := types.NamespacedName{Namespace: "team-b", Name: "prod"}
	lease := client.ObjectKey{Namespace: "crossplane-system", Name: "intentplane-capt.c1"}
	holds := func(w *testEnv, holder string) {
		w.Helper()
		l := &coordinationv1.Lease{}
		w.must(w.Get(w.Context(), lease, l))
		if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != holder {
			w.Errorf("it is held by %+v, want %s", l.Spec, holder)
		}
	}
	cases := map[string]struct {
		reason string
		before func(*testEnv)
		// want is the holder of the name. Empty if the name is free.
		want  string
		taken string
	}{
		"Stale": {
			reason: "A reservation whose holder does not exist any more is taken over.", want: "team-b/prod/second-uid",
			before: func(w *testEnv) { w.must(w.Client.Delete(w.Context(), w.get())) },
		},
		"Another": {
			reason: "A reservation whose holder was recreated under its name is taken over.", want: "team-b/prod/second-uid",
			before: func(w *testEnv) {
				mc := w.get()
				w.must(w.Client.Delete(w.Context(), mc))
				mc.ResourceVersion, mc.UID = "", "again-uid"
				w.must(w.Create(w.Context(), mc))
			},
		},
		"Unreserved": {
			reason: "An object that was made without a reservation and is not in the cache yet is noticed.",
			taken:  "there is a CAPTCluster of that name that this ManagedCluster did not make",
			before: func(w *testEnv) {
				w.must(w.Client.Delete(w.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}}))
				w.putYAML("CAPTCluster", "spec: {region: x}")
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, rivals := newRivals(t, captParameters(), elsewhere)
			first, mc := w.newExternal(rivals[0])
			w.must(first.claimReservation(t.Context(), mc, nil))
			holds(w, "team-a/prod/mc-uid")
			tc.before(w)
			second, rival := w.newExternal(rivals[1])
			_, err := second.Update(t.Context(), rival)
			w.must(err)
			c := rival.Status.GetCondition(xpv2.TypeReady)
			if tc.taken != "" {
				if err := w.Get(t.Context(), lease, &coordinationv1.Lease{}); c.Message != tc.taken || len(w.writes) > 0 || client.IgnoreNotFound(err) != nil || err == nil {
					t.Errorf("\n%s\nit says %+v, did %q, and the name is reserved: %v", tc.reason, c, w.writes, err)
				}
				return
			}
			holds(w, tc.want)
			if len(w.writes) != 3 {
				t.Errorf("\n%s\nit did %q, and says %+v", tc.reason, w.writes, c)
			}
		})
	}
}

// TestReservationIsReleasedLast checks that a deletion releases the name after all objects are gone.
func TestReservationIsReleasedLast(t *testing.T) {
	w := newReadyCluster(t)
	lease := client.ObjectKey{Namespace: "crossplane-system", Name: "intentplane-capt.c1"}
	w.must(w.Delete(t.Context(), w.get()))
	w.writes = nil
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.reconcileUntilDeleted("delete "+kind, kind)
		w.must(w.Get(t.Context(), lease, &coordinationv1.Lease{}))
	}
	for w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(reservedAgain)
		w.reconcile()
	}
	if err := w.Get(t.Context(), lease, &coordinationv1.Lease{}); err == nil || client.IgnoreNotFound(err) != nil {
		t.Errorf("the name is still reserved: %v", err)
	}
}
