package clusters

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

// clusterByHand is a Cluster that a user made by hand.
func (s *stage) clusterByHand() *unstructured.Unstructured {
	return s.Set(s.clusterNamed(), map[string]any{
		"classRef": map[string]any{"name": clusterapi.ClassName}, "version": version, "controlPlane": map[string]any{"replicas": int64(1)},
	}, "spec", "topology")
}

func (s *stage) existingCluster() map[string]any {
	return map[string]any{
		"cluster": map[string]any{"name": name}, "type": "Existing", "labels": map[string]any{"team": "a"},
		"readiness": map[string]any{"stabilizationSeconds": int64(1)},
	}
}

// awaitPaused waits until a ManagedCluster reports that its Cluster is paused.
func (s *stage) awaitPaused(mc *unstructured.Unstructured) {
	s.T.Helper()
	s.awaitObject(mc, "is paused", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Paused", corev1.ConditionTrue, "Paused") })
}

// unlabelled is a kind of infrastructure whose definition has no label for its contract.
const unlabelled = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unlabelledclusters.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: UnlabelledCluster, plural: unlabelledclusters}
  versions:
    - {name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`
