package kubernetes

// workloadControllers are the controllers of Kubernetes that make pods of Deployments, and remove objects without an owner. The controller of EndpointSlices
// is missing: package kubelet does that, since the pods that it plays have addresses of this machine.
const workloadControllers = "deployment-controller,replicaset-controller," +
	"garbage-collector-controller,namespace-controller,serviceaccount-controller"

// StartWorkloads starts the controllers that make pods of Deployments in the cluster. Nodes are missing: package kubelet plays one. It returns an error if it
// does not start.
func (k *Cluster) StartWorkloads() error {
	return k.runControllers("kube-controllers", workloadControllers)
}
