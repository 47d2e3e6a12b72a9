package clusterapi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

// ClassName and WorkerClass are the names of Class and of its workers.
const (
	ClassName   = "in-memory"
	WorkerClass = "default-worker"
)

// Class returns a ClusterClass and its templates, for clusters that are simulated in the infrastructure provider's memory: their API
// servers answer, know no server-side apply and no /readyz, and cost nothing. Its variables "tier" and "zone" have defaults, which core adds
// to each Cluster. It returns an error if it cannot be written down.
func Class(namespace string) ([]*unstructured.Unstructured, error) {
	return kubernetes.ParseYAML(fmt.Appendf(nil, class, namespace))
}

// A machine takes a moment to start, so that each phase of a cluster's life can be seen.
const class = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevClusterTemplate
metadata: {namespace: %[1]s, name: in-memory}
spec: {template: {spec: {backend: {inMemory: {}}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: {namespace: %[1]s, name: in-memory}
spec:
  template:
    spec:
      kubeadmConfigSpec:
        clusterConfiguration: {apiServer: {certSANs: [localhost, 127.0.0.1]}}
        initConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}
        joinConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {namespace: %[1]s, name: in-memory}
spec:
  template:
    spec:
      backend:
        inMemory:
          vm: {provisioning: {startupDuration: 2s, startupJitter: "0.2"}}
          node: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
          apiServer: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
          etcd: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {namespace: %[1]s, name: in-memory}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {namespace: %[1]s, name: in-memory}
spec:
  variables:
    - {name: tier, required: false, schema: {openAPIV3Schema: {type: string, default: silver}}}
    - {name: zone, required: false, schema: {openAPIV3Schema: {type: string, default: a}}}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevClusterTemplate, name: in-memory}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: in-memory}
    machineInfrastructure:
      templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: in-memory}
  workers:
    machineDeployments:
      - class: default-worker
        bootstrap:
          templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: in-memory}
        infrastructure:
          templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: in-memory}
`
