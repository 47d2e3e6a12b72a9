package claims

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// clusterDefinition is as much of Cluster API as a Site that waits for a cluster needs.
const clusterDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  names: {kind: Cluster, listKind: ClusterList, plural: clusters, singular: cluster}
  scope: Namespaced
  versions:
    - name: v1beta2
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// objectFromYAML reads YAML.
func objectFromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func awaitSiteWaits(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	s.Apply(s.Set(s.NewSite("later"), map[string]any{"clusterRef": map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": s.Namespace, "name": "later",
	}}, "spec", "cluster"))
	claim := s.Claim("shop", intentWithReplicas(s, 1, "edge1", "later"))
	waits := func(reason string) func(*unstructured.Unstructured) bool {
		return func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Delivering" && scene.Field(u, "status", "delivery", "sitesReady") == "1/2" &&
				scene.Is(u, "Delivered", corev1.ConditionFalse, "WaitingForCluster") &&
				strings.HasPrefix(scene.Field(u, "status", "delivery", "sites", s.Site("later"), "message"), reason)
		}
	}
	observed := s.Reach(claim, "Delivering, with one Site served", waits("KindMissing: Cluster later"))
	if !scene.Is(observed, "Ready", corev1.ConditionFalse, "") || !scene.Is(observed, "Reconciling", corev1.ConditionTrue, "") {
		t.Errorf("the status does not say that it goes on: %v", observed.Object["status"])
	}
	s.AwaitCommits(1)
	// Cluster API is installed, and the Cluster is made, and is not ready.
	s.Apply(objectFromYAML(t, clusterDefinition))
	cluster := objectFromYAML(t, "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: later}\nspec: {controlPlaneEndpoint: {host: later.example.org, port: 6443}}")
	cluster.SetNamespace(s.Namespace)
	s.Until("the definition is served", patience.Limit, func() bool { return s.ApplyObject(t.Context(), cluster.DeepCopy()) == nil })
	s.Await(claim, "the Cluster is not ready", waits("NotReferenced: the Cluster names none"))
	if files := s.FilesBelow("clusters/later"); len(files) != 0 {
		t.Errorf("the Site whose cluster is not ready got files: %q", scene.Names(files))
	}
	s.Patch(cluster, `{"status": {"initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true}}}`, "status")
	s.Await(claim, "the kubeconfig is missing", waits("KubeconfigMissing: Secret later-kubeconfig"))
	// It is: the Site is served, as part of the same revision.
	s.Apply(kubeconfigOf(s, "later"))
	awaitSucceededUnchanged(s, claim)
	s.AwaitCommits(2)
	if len(s.FilesBelow(s.Directory("later", "shop"))) == 0 {
		t.Error("the Site got no files")
	}
}

// kubeconfigOf a cluster whose API server is the control plane's.
func kubeconfigOf(s *scene.Scene, cluster string) *unstructured.Unstructured {
	s.T.Helper()
	kubeconfig, err := os.ReadFile(cp.Kubeconfig)
	s.Must(err)
	secret := objectFromYAML(s.T, "apiVersion: v1\nkind: Secret\nmetadata: {name: "+cluster+"-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: "+cluster+"}}\ntype: cluster.x-k8s.io/secret")
	secret.SetNamespace(s.Namespace)
	return s.Set(secret, string(kubeconfig), "stringData", "value")
}
