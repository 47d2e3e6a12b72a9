package controlplane

// jobController is the one of Kubernetes that makes pods of Jobs.
const jobController = "job-controller"

// StartJobController starts what makes pods of Jobs. Nodes are missing: the test that plays one says what becomes of the pods. It returns an error
// if it does not start.
func (c *ControlPlane) StartJobController() error {
	return c.startControllers(jobController, jobController)
}
