package v1alpha1

// Types of the conditions of a WorkloadCluster, beside Crossplane's Ready and Synced. Each status has all of them.
const (
	// TypeValid reports whether the spec is valid and can be applied.
	TypeValid = "Valid"

	// TypeInfrastructureReady reports whether the infrastructure of the cluster exists and is healthy.
	TypeInfrastructureReady = "InfrastructureReady"

	// TypeControlPlaneInitialized reports whether the cluster's API server has responded once. It never becomes false again.
	TypeControlPlaneInitialized = "ControlPlaneInitialized"

	// TypeControlPlaneReady reports whether the control plane is healthy now.
	TypeControlPlaneReady = "ControlPlaneReady"

	// TypeEndpointKnown reports whether the address of the API server is known.
	TypeEndpointKnown = "EndpointKnown"

	// TypeKubeconfigReady reports whether a kubeconfig exists that the API server accepts.
	TypeKubeconfigReady = "KubeconfigReady"

	// TypeProviderHealthy reports whether the controllers that build the cluster report no error.
	TypeProviderHealthy = "ProviderHealthy"

	// TypePaused reports whether a user paused the controllers of the cluster.
	TypePaused = "Paused"

	// TypeDeleting reports whether the Cluster is being deleted.
	TypeDeleting = "Deleting"

	// TypeSitePublished reports whether the requested Site was created.
	TypeSitePublished = "SitePublished"

	// TypeStalled reports whether the cluster makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling reports whether the object is being reconciled.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of a WorkloadCluster, beside the reasons of its ManagedCluster, which it repeats.
const (
	// ReasonValid means that the spec is valid and can be applied.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is invalid; the message names it. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonNotObserved means that the provider has not observed the cluster yet.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that the object is being reconciled.
	ReasonProgressing = "Progressing"

	// ReasonNotSynced means that the provider cannot apply the ManagedCluster. Its message has the cause, and the provider retries.
	ReasonNotSynced = "NotSynced"

	// ReasonUpgrading means that the cluster runs another version of Kubernetes than the spec requests.
	ReasonUpgrading = "Upgrading"

	// ReasonRebasing means that the cluster does not use the requested ClusterClass yet, or that Cluster API has not applied it completely.
	ReasonRebasing = "Rebasing"

	// ReasonClusterGone means that the Cluster was deleted. Terminal.
	ReasonClusterGone = "ClusterGone"

	// ReasonIdle means that no change is in progress.
	ReasonIdle = "Idle"

	// ReasonPublished means that the Site was created.
	ReasonPublished = "Published"

	// ReasonNotPublished means that the Site was not created yet.
	ReasonNotPublished = "NotPublished"

	// ReasonNotRequested means that the spec requests no Site.
	ReasonNotRequested = "NotRequested"
)
