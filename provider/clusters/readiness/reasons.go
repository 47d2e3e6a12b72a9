package readiness

// Reasons why an object could not be read.
const (
	// ReasonKindMissing means that the management cluster does not serve the object's kind.
	ReasonKindMissing = "KindMissing"

	// ReasonObjectMissing means that the object does not exist.
	ReasonObjectMissing = "ObjectMissing"

	// ReasonAccessDenied means that the provider may not read the object in the management cluster.
	ReasonAccessDenied = "AccessDenied"

	// ReasonUnreachable means that the management cluster is unreachable.
	ReasonUnreachable = "ManagementUnreachable"

	// ReasonContractUnknown means that the object's kind names no version of Cluster API's contract, or an unsupported version.
	ReasonContractUnknown = "ContractUnknown"

	// ReasonVersionUnknown means that the management cluster serves no supported version of Cluster.
	ReasonVersionUnknown = "VersionUnknown"
)

// Reasons of conditions.
const (
	// ReasonNotReferenced means that the Cluster does not name the object.
	ReasonNotReferenced = "NotReferenced"

	// ReasonProvisioning means that the infrastructure is being created.
	ReasonProvisioning = "Provisioning"

	// ReasonProvisioned means that the infrastructure exists.
	ReasonProvisioned = "Provisioned"

	// ReasonNotReady means that an object which was ready reports that it is unready.
	ReasonNotReady = "NotReady"

	// ReasonNotInitialized means that the control plane has not responded yet.
	ReasonNotInitialized = "NotInitialized"

	// ReasonInitialized means that the control plane has responded once.
	ReasonInitialized = "Initialized"

	// ReasonAvailable means that the control plane is healthy.
	ReasonAvailable = "Available"

	// ReasonEndpointUnknown means that the Cluster has no address of its API server.
	ReasonEndpointUnknown = "EndpointUnknown"

	// ReasonEndpointKnown means that the Cluster has the address of its API server.
	ReasonEndpointKnown = "EndpointKnown"

	// ReasonEndpointCorrected means that the Cluster has the address of its API server in a form that is not a host name, such as a URL, from which the
	// provider reads the host.
	ReasonEndpointCorrected = "EndpointCorrected"

	// ReasonKubeconfigMissing means that the Secret with the kubeconfig does not exist.
	ReasonKubeconfigMissing = "KubeconfigMissing"

	// ReasonKubeconfigInvalid means that the Secret does not have the type or the label that Cluster API requires.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"

	// ReasonKubeconfigEmpty means that the Secret's key is missing or empty.
	ReasonKubeconfigEmpty = "KubeconfigEmpty"

	// ReasonKubeconfigRefused means that the kubeconfig cannot be parsed, or has a setting that is not allowed.
	ReasonKubeconfigRefused = "KubeconfigRefused"

	// ReasonKubeconfigExpired means that the credentials in the kubeconfig have expired.
	ReasonKubeconfigExpired = "KubeconfigExpired"

	// ReasonKubeconfigDenied means that the API server does not accept the credentials.
	ReasonKubeconfigDenied = "KubeconfigDenied"

	// ReasonKubeconfigNotAsked means that the kubeconfig runs a program, which is allowed, and which the provider does not run.
	ReasonKubeconfigNotAsked = "KubeconfigNotAsked"

	// ReasonServerUnreachable means that the API server is unreachable.
	ReasonServerUnreachable = "ServerUnreachable"

	// ReasonServerNotReady means that the API server reports that it is not ready.
	ReasonServerNotReady = "ServerNotReady"

	// ReasonAnswers means that the API server responds.
	ReasonAnswers = "Answers"

	// ReasonTerraformFailed means that Terraform failed in a Workspace behind the cluster.
	ReasonTerraformFailed = "TerraformFailed"

	// ReasonFailureReported means that an object has a failure reason or the phase Failed. The failure may be an old failure.
	ReasonFailureReported = "FailureReported"

	// ReasonNoFailure means that no object reports a failure.
	ReasonNoFailure = "NoFailure"

	// ReasonPaused means that the Cluster or one of its objects is paused.
	ReasonPaused = "Paused"

	// ReasonPausedIgnored means that the Cluster is paused, and that its provider continues nevertheless.
	ReasonPausedIgnored = "PausedIgnoredByProvider"

	// ReasonNotPaused means that neither the Cluster nor one of its objects is paused.
	ReasonNotPaused = "NotPaused"

	// ReasonDeletionRequested means that the Cluster is being deleted, and that Cluster API does not name the blocker.
	ReasonDeletionRequested = "DeletionRequested"

	// ReasonNotDeleting means that the Cluster is not being deleted.
	ReasonNotDeleting = "NotDeleting"

	// ReasonTooFewWorkers means that fewer workers are ready than required.
	ReasonTooFewWorkers = "TooFewWorkers"

	// ReasonTopologyNotReconciled means that Cluster API has not applied the topology of a Cluster with a ClusterClass.
	ReasonTopologyNotReconciled = "TopologyNotReconciled"

	// ReasonRollingOut means that machines are being replaced.
	ReasonRollingOut = "RollingOut"

	// ReasonStabilizing means that the cluster is ready, for less than its stabilization time.
	ReasonStabilizing = "Stabilizing"
)
