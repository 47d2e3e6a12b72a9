package kubernetes

// jobController is the controller of Kubernetes that makes pods of Jobs.
const jobController = "job-controller"

// StartJobController starts the controller that makes pods of Jobs. Nodes are missing: the test that plays one sets the status of the pods. It returns an error
// if it does not start.
func (k *Cluster) StartJobController() error {
	return k.runControllers(jobController, jobController)
}
