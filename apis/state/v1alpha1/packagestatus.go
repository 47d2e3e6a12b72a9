package v1alpha1

// Statuses of packages and bundles, in the words of the record. docs/bundles.md explains each.
const (
	StatusSuccess      = "success"
	StatusFailed       = "failed"
	StatusDeploying    = "deploying"
	StatusNotDeployed  = "not_deployed"
	StatusRemoving     = "removing"
	StatusRemoved      = "removed"
	StatusFailedRemove = "failed_remove"
	StatusUnreferenced = "unreferenced"
)
