package v1alpha1

// Types of the conditions of a WorkloadCluster, beside Crossplane's Ready and Synced. All are always there.
const (
	// TypeValid says whether what was asked for can be carried out.
	TypeValid = "Valid"

	// TypeInfrastructureReady says whether what the cluster runs on is there, and is well.
	TypeInfrastructureReady = "InfrastructureReady"

	// TypeControlPlaneInitialized says whether the cluster's API server ever answered. It never becomes false again.
	TypeControlPlaneInitialized = "ControlPlaneInitialized"

	// TypeControlPlaneReady says whether the control plane is well now.
	TypeControlPlaneReady = "ControlPlaneReady"

	// TypeEndpointKnown says whether the address of the API server is known.
	TypeEndpointKnown = "EndpointKnown"

	// TypeKubeconfigReady says whether there is a kubeconfig with which the API server answers.
	TypeKubeconfigReady = "KubeconfigReady"

	// TypeProviderHealthy says whether those who build the cluster report no error.
	TypeProviderHealthy = "ProviderHealthy"

	// TypePaused says whether a user paused the controllers of the cluster.
	TypePaused = "Paused"

	// TypeDeleting says whether the Cluster is being deleted.
	TypeDeleting = "Deleting"

	// TypeSitePublished says whether the Site that is asked for was made.
	TypeSitePublished = "SitePublished"

	// TypeStalled says whether the cluster makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling says whether work goes on.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of a WorkloadCluster, beside those of its ManagedCluster, which it repeats.
const (
	// ReasonValid means that what was asked for can be carried out.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is wrong. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonNotObserved means that the provider has not observed the cluster yet.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that work goes on.
	ReasonProgressing = "Progressing"

	// ReasonNotSynced means that the provider cannot apply the ManagedCluster. Its message says why, and it is tried again.
	ReasonNotSynced = "NotSynced"

	// ReasonUpgrading means that another version of Kubernetes runs than was asked for.
	ReasonUpgrading = "Upgrading"

	// ReasonRebasing means that the cluster is not made of the ClusterClass that was asked for, or that Cluster API is not done with it.
	ReasonRebasing = "Rebasing"

	// ReasonClusterGone means that the Cluster was there, and is not any more. Terminal.
	ReasonClusterGone = "ClusterGone"

	// ReasonIdle means that there is nothing to do.
	ReasonIdle = "Idle"

	// ReasonPublished means that the Site was made.
	ReasonPublished = "Published"

	// ReasonNotPublished means that the Site was not made yet.
	ReasonNotPublished = "NotPublished"

	// ReasonNotRequested means that no Site is asked for.
	ReasonNotRequested = "NotRequested"
)
