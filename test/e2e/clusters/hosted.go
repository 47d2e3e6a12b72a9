package clusters

import (
	"fmt"
	"net/url"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
)

// A hosted cluster is a cluster whose providers the test plays, with a real API server behind it. Core is the real one.
type hosted struct {
	*stage

	edge *kubernetes.Cluster
}

// hostCluster makes a Cluster of an API server, of which nothing is ready yet.
func (s *stage) hostCluster(edge *kubernetes.Cluster) *hosted {
	s.T.Helper()
	s.Must(s.ApplyYAML(s.T.Context(), []byte(hostedKinds)))
	endpoint, err := url.Parse(edge.Config.Host)
	s.Must(err)
	port, err := strconv.ParseInt(endpoint.Port(), 10, 64)
	s.Must(err)
	h := &hosted{stage: s, edge: edge}
	for _, o := range []*unstructured.Unstructured{h.infrastructure(), h.controlPlaneOf()} {
		s.Set(o, map[string]any{}, "spec")
		s.Until("the kind is served", patience.Limit, func() bool { return s.ApplyObject(s.T.Context(), o.DeepCopy()) == nil })
	}
	c := s.Set(s.clusterNamed(), map[string]any{"host": endpoint.Hostname(), "port": port}, "spec", "controlPlaneEndpoint")
	s.Set(c, map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "HostedCluster", "name": name}, "spec", "infrastructureRef")
	s.Apply(s.Set(c, map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "HostedControlPlane", "name": name}, "spec", "controlPlaneRef"))
	return h
}

func (s *stage) infrastructure() *unstructured.Unstructured {
	return s.describeObject("infrastructure.cluster.x-k8s.io/v1beta2", "HostedCluster", name)
}

func (s *stage) controlPlaneOf() *unstructured.Unstructured {
	return s.describeObject("controlplane.cluster.x-k8s.io/v1beta2", "HostedControlPlane", name)
}

// buildHosted builds the cluster: the infrastructure, the control plane and its kubeconfig.
func (h *hosted) buildHosted() {
	h.T.Helper()
	h.Patch(h.infrastructure(), `{"status":{"initialization":{"provisioned":true}}}`, "status")
	b, err := os.ReadFile(h.edge.Kubeconfig)
	h.Must(err)
	h.Must(h.Client.Create(h.T.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: name + "-kubeconfig", Labels: map[string]string{"cluster.x-k8s.io/cluster-name": name}},
		Type:       "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": b},
	}))
	h.awaitAvailable("True", "")
}

// awaitAvailable writes the status that the control plane reports.
func (h *hosted) awaitAvailable(status, message string) {
	h.T.Helper()
	h.Patch(h.controlPlaneOf(), fmt.Sprintf(`{"status":{"initialization":{"controlPlaneInitialized":true},"externalManagedControlPlane":true,"version":%q,"conditions":[
		{"type":"Available","status":%q,"reason":"Said","message":%q,"lastTransitionTime":"2026-11-01T00:00:00Z"}]}}`, version, status, message), "status")
}

// hostedKinds are the kinds of the providers that a test plays, with the rights of core to use them.
const hostedKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hostedclusters.infrastructure.cluster.x-k8s.io, labels: {cluster.x-k8s.io/v1beta2: v1beta2}}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: HostedCluster, plural: hostedclusters}
  versions:
    - {name: v1beta2, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hostedcontrolplanes.controlplane.cluster.x-k8s.io, labels: {cluster.x-k8s.io/v1beta2: v1beta2}}
spec:
  group: controlplane.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: HostedControlPlane, plural: hostedcontrolplanes}
  versions:
    - {name: v1beta2, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: hosted, labels: {cluster.x-k8s.io/aggregate-to-manager: "true"}}
rules:
  - {apiGroups: [infrastructure.cluster.x-k8s.io], resources: [hostedclusters], verbs: ["*"]}
  - {apiGroups: [controlplane.cluster.x-k8s.io], resources: [hostedcontrolplanes], verbs: ["*"]}
`
