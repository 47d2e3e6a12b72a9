package readiness

// Reasons why an object could not be read.
const (
	// ReasonKindMissing means that the management cluster does not serve the object's kind.
	ReasonKindMissing = "KindMissing"

	// ReasonObjectMissing means that the object does not exist.
	ReasonObjectMissing = "ObjectMissing"

	// ReasonAccessDenied means that the management cluster does not let us read the object.
	ReasonAccessDenied = "AccessDenied"

	// ReasonUnreachable means that the management cluster does not answer.
	ReasonUnreachable = "ManagementUnreachable"

	// ReasonContractUnknown means that the object's kind names no version of Cluster API's contract, or an unsupported version.
	ReasonContractUnknown = "ContractUnknown"

	// ReasonVersionUnknown means that the management cluster serves Cluster in no version that is known here.
	ReasonVersionUnknown = "VersionUnknown"
)

// Reasons of conditions.
const (
	// ReasonNotReferenced means that the Cluster names no such object.
	ReasonNotReferenced = "NotReferenced"

	// ReasonProvisioning means that the infrastructure is not there yet.
	ReasonProvisioning = "Provisioning"

	// ReasonProvisioned means that the infrastructure is there.
	ReasonProvisioned = "Provisioned"

	// ReasonNotReady means that an object which was ready once says that it is not.
	ReasonNotReady = "NotReady"

	// ReasonNotInitialized means that the control plane never answered.
	ReasonNotInitialized = "NotInitialized"

	// ReasonInitialized means that the control plane answered once.
	ReasonInitialized = "Initialized"

	// ReasonAvailable means that the control plane is well.
	ReasonAvailable = "Available"

	// ReasonEndpointUnknown means that the Cluster does not say where its API server is.
	ReasonEndpointUnknown = "EndpointUnknown"

	// ReasonEndpointKnown means that it does.
	ReasonEndpointKnown = "EndpointKnown"

	// ReasonEndpointCorrected means that it does, in a form that is not a host name, which was understood all the same.
	ReasonEndpointCorrected = "EndpointCorrected"

	// ReasonKubeconfigMissing means that the Secret with the kubeconfig does not exist.
	ReasonKubeconfigMissing = "KubeconfigMissing"

	// ReasonKubeconfigInvalid means that the Secret has not the type or the label that Cluster API asks for.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"

	// ReasonKubeconfigEmpty means that the Secret's key is missing or empty.
	ReasonKubeconfigEmpty = "KubeconfigEmpty"

	// ReasonKubeconfigRefused means that the kubeconfig cannot be parsed, or has a setting that is not allowed.
	ReasonKubeconfigRefused = "KubeconfigRefused"

	// ReasonKubeconfigExpired means that the credentials in the kubeconfig are too old.
	ReasonKubeconfigExpired = "KubeconfigExpired"

	// ReasonKubeconfigDenied means that the API server does not accept the credentials.
	ReasonKubeconfigDenied = "KubeconfigDenied"

	// ReasonKubeconfigNotAsked means that the kubeconfig runs a program, which is allowed, and which the provider does not run.
	ReasonKubeconfigNotAsked = "KubeconfigNotAsked"

	// ReasonServerUnreachable means that the API server does not answer.
	ReasonServerUnreachable = "ServerUnreachable"

	// ReasonServerNotReady means that the API server answers that it is not ready.
	ReasonServerNotReady = "ServerNotReady"

	// ReasonAnswers means that the API server answers.
	ReasonAnswers = "Answers"

	// ReasonTerraformFailed means that a Workspace behind the cluster could not be carried out.
	ReasonTerraformFailed = "TerraformFailed"

	// ReasonFailureReported means that an object has a failure reason or the phase Failed. It may be left over from earlier.
	ReasonFailureReported = "FailureReported"

	// ReasonNoFailure means that no object reports a failure.
	ReasonNoFailure = "NoFailure"

	// ReasonPaused means that the Cluster or one of its objects is paused.
	ReasonPaused = "Paused"

	// ReasonPausedIgnored means that the Cluster is paused, and that its provider goes on all the same.
	ReasonPausedIgnored = "PausedIgnoredByProvider"

	// ReasonNotPaused means that nothing is paused.
	ReasonNotPaused = "NotPaused"

	// ReasonDeletionRequested means that the Cluster is being deleted, and that Cluster API does not name the blocker.
	ReasonDeletionRequested = "DeletionRequested"

	// ReasonNotDeleting means that the Cluster stays.
	ReasonNotDeleting = "NotDeleting"

	// ReasonTooFewWorkers means that fewer workers are ready than required.
	ReasonTooFewWorkers = "TooFewWorkers"

	// ReasonTopologyNotReconciled means that Cluster API has not applied the topology of a Cluster with a ClusterClass.
	ReasonTopologyNotReconciled = "TopologyNotReconciled"

	// ReasonRollingOut means that machines are replaced by others.
	ReasonRollingOut = "RollingOut"

	// ReasonStabilizing means that the cluster is ready, and has not been for long enough.
	ReasonStabilizing = "Stabilizing"
)
