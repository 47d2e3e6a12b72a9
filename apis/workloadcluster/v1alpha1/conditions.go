package v1alpha1

// Types of the conditions of a WorkloadCluster, beside Crossplane's Ready and Synced. All are always there.
const (
	// TypeValid says whether the spec is valid and can be carried out.
	TypeValid = "Valid"

	// TypeInfrastructureReady says whether the infrastructure of the cluster exists and is healthy.
	TypeInfrastructureReady = "InfrastructureReady"

	// TypeControlPlaneInitialized says whether the cluster's API server ever answered. It never becomes false again.
	TypeControlPlaneInitialized = "ControlPlaneInitialized"

	// TypeControlPlaneReady says whether the control plane is well now.
	TypeControlPlaneReady = "ControlPlaneReady"

	// TypeEndpointKnown says whether the address of the API server is known.
	TypeEndpointKnown = "EndpointKnown"

	// TypeKubeconfigReady says whether there is a kubeconfig with which the API server answers.
	TypeKubeconfigReady = "KubeconfigReady"

	// TypeProviderHealthy says whether the controllers that build the cluster report no error.
	TypeProviderHealthy = "ProviderHealthy"

	// TypePaused says whether a user paused the controllers of the cluster.
	TypePaused = "Paused"

	// TypeDeleting says whether the Cluster is being deleted.
	TypeDeleting = "Deleting"

	// TypeSitePublished says whether the requested Site was made.
	TypeSitePublished = "SitePublished"

	// TypeStalled says whether the cluster makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling says whether work goes on.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of a WorkloadCluster, beside the reasons of its ManagedCluster, which it repeats.
const (
	// ReasonValid means that the spec is valid and can be carried out.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is wrong. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonNotObserved means that the provider has not observed the cluster yet.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that work goes on.
	ReasonProgressing = "Progressing"

	// ReasonNotSynced means that the provider cannot apply the ManagedCluster. Its message says why, and it is tried again.
	ReasonNotSynced = "NotSynced"

	// ReasonUpgrading means that the cluster runs another version of Kubernetes than the spec requests.
	ReasonUpgrading = "Upgrading"

	// ReasonRebasing means that the cluster does not use the requested ClusterClass yet, or that Cluster API is not done with it.
	ReasonRebasing = "Rebasing"

	// ReasonClusterGone means that the Cluster was there, and is not any more. Terminal.
	ReasonClusterGone = "ClusterGone"

	// ReasonIdle means that there is nothing to do.
	ReasonIdle = "Idle"

	// ReasonPublished means that the Site was made.
	ReasonPublished = "Published"

	// ReasonNotPublished means that the Site was not made yet.
	ReasonNotPublished = "NotPublished"

	// ReasonNotRequested means that the spec requests no Site.
	ReasonNotRequested = "NotRequested"
)
