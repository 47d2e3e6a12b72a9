package clusters

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hasSeenCluster is true for a ManagedCluster that has seen a Cluster, and has it in its status.
func hasSeenCluster(mc, cluster *unstructured.Unstructured) bool {
	objects, _, _ := unstructured.NestedSlice(mc.Object, "status", "atProvider", "objects")
	return slices.ContainsFunc(objects, func(o any) bool {
		object, ok := o.(map[string]any)
		return ok && object["kind"] == "Cluster" && object["uid"] == string(cluster.GetUID())
	})
}
