package clusters

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hasSeenCluster is true for a ManagedCluster that has seen a Cluster, and has it in its status.
func hasSeenCluster(mc, cluster *unstructured.Unstructured) bool {
	objects, _, _ := unstructured.NestedSlice(mc.Object, "status", "atProvider", "objects")
	return slices.ContainsFunc(objects, func(o any) bool {
		one, ok := o.(map[string]any)
		return ok && one["kind"] == "Cluster" && one["uid"] == string(cluster.GetUID())
	})
}
