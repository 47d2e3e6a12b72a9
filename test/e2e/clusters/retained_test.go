package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestDeletedManagedCluster deletes the ManagedCluster of a WorkloadCluster that lives, in both shapes. The next one takes up the same Cluster,
// which goes with the WorkloadCluster.
func TestDeletedManagedCluster(t *testing.T) {
	t.Parallel()
	for shape, apiVersion := range map[string]string{"Claim": "claims.intentplane.dev/v1alpha1", "Composite": "intentplane.dev/v1alpha1"} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s := newClusterStage(t)
			wc, mc := s.describeWorkload("mine", s.describeTopology()), s.describeManaged("mine", nil)
			wc.SetAPIVersion(apiVersion)
			s.Apply(wc)
			cluster := s.awaitObject(s.clusterNamed(), "is made", func(u *unstructured.Unstructured) bool { return u.GetUID() != "" })
			first := s.awaitObject(mc, "knows its Cluster", func(u *unstructured.Unstructured) bool { return hasSeenCluster(u, cluster) })

			s.Run("delete", "managed", "--all", "-n", s.Namespace, "--wait", "--timeout="+patience.Limit.String())
			s.awaitObject(mc, "is another object, and has the Cluster", func(u *unstructured.Unstructured) bool {
				return u.GetUID() != first.GetUID() && hasSeenCluster(u, cluster) && scene.Condition(u, "Ready").Reason != "NameTaken"
			})
			s.wantNotDeleted(s.clusterNamed())
			if diff := cmp.Diff(cluster.GetUID(), s.Now(s.clusterNamed()).GetUID()); diff != "" {
				t.Errorf("uid of the Cluster: -want, +got:\n%s", diff)
			}
			s.Delete(wc)
			s.awaitObjectGone(wc)
			s.awaitObjectGone(s.clusterNamed())
		})
	}
}
