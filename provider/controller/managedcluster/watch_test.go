package managedcluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// TestEventReadsItsClusters has a ManagedCluster, and a hundred others with other clusters and configurations in its namespace.
func TestEventReadsItsClusters(t *testing.T) {
	w := newWorld(t)
	w.create(captParameters())
	for i := range 100 {
		mc := managedCluster(captParameters())
		mc.SetName(fmt.Sprintf("other-%d", i))
		mc.SetUID("")
		mc.Spec.ForProvider.Cluster.Name, mc.Spec.ProviderConfigReference.Name = mc.GetName(), mc.GetName()
		w.must(w.Create(t.Context(), mc))
	}
	counter := &cacheclient.Counter{Client: w.Client}
	m := requestMapper{kube: counter}
	ours := []reconcile.Request{{NamespacedName: key()}}
	cases := map[string]struct {
		reason string
		got    func() []reconcile.Request
		want   []reconcile.Request
	}{
		"Config": {
			reason: "A ClusterProviderConfig wakes the ManagedClusters that name it.", want: ours,
			got: func() []reconcile.Request {
				return m.requestsForConfig(t.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
			},
		},
		"Kind": {
			reason: "A ProviderConfig with the name of a ClusterProviderConfig wakes none.",
			got: func() []reconcile.Request {
				return m.requestsForConfig(t.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}})
			},
		},
		"Secret": {
			reason: "A Secret wakes the ManagedClusters whose kubeconfig it holds.", want: ours,
			got: func() []reconcile.Request {
				return m.requestsForSecret(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c1-kubeconfig"}})
			},
		},
		"Namesake": {
			reason: "A Secret of another namespace wakes none.",
			got: func() []reconcile.Request {
				return m.requestsForSecret(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "c1-kubeconfig"}})
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			counter.Listed = 0
			if diff := cmp.Diff(tc.want, tc.got()); diff != "" || counter.Listed > len(tc.want) {
				t.Errorf("\n%s It reads no other ManagedCluster.\n%d objects, -want, +got:\n%s", tc.reason, counter.Listed, diff)
			}
		})
	}
}
