package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Types of a ManagedCluster's conditions, beside Ready and Synced.
const (
	// TypeInfrastructureReady reports whether the infrastructure of the cluster exists and is healthy.
	TypeInfrastructureReady xpv2.ConditionType = "InfrastructureReady"

	// TypeControlPlaneInitialized reports whether the cluster's API server has responded once. It never becomes false again.
	TypeControlPlaneInitialized xpv2.ConditionType = "ControlPlaneInitialized"

	// TypeControlPlaneReady reports whether the control plane is healthy now.
	TypeControlPlaneReady xpv2.ConditionType = "ControlPlaneReady"

	// TypeEndpointKnown reports whether the address of the API server is known.
	TypeEndpointKnown xpv2.ConditionType = "EndpointKnown"

	// TypeKubeconfigReady reports whether a kubeconfig exists that the API server accepts.
	TypeKubeconfigReady xpv2.ConditionType = "KubeconfigReady"

	// TypeProviderHealthy reports whether the controllers that build the cluster report no error.
	TypeProviderHealthy xpv2.ConditionType = "ProviderHealthy"

	// TypePaused reports whether a user paused the controllers of the cluster.
	TypePaused xpv2.ConditionType = "Paused"

	// TypeDeleting reports whether the Cluster is being deleted.
	TypeDeleting xpv2.ConditionType = "Deleting"
)

// Reasons of a ManagedCluster's Ready condition, beside the blocking reasons that docs/operations/sites.md lists. Terminal means that the
// reason stays until a user acts.
const (
	// ReasonReady means that the cluster accepts deliveries, and that all of its parts are healthy.
	ReasonReady xpv2.ConditionReason = "Ready"

	// ReasonDegraded means that the cluster was ready, and became unready or unhealthy.
	ReasonDegraded xpv2.ConditionReason = "Degraded"

	// ReasonPolicyDenied means that a limit of the configuration forbids the cluster. Terminal.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonNameTaken means that another ManagedCluster or controller has a cluster of that name. Terminal.
	ReasonNameTaken xpv2.ConditionReason = "NameTaken"

	// ReasonTemplateMissing means that a template does not exist.
	ReasonTemplateMissing xpv2.ConditionReason = "TemplateMissing"

	// ReasonObjectsGone means that an object of the cluster was deleted. It is not recreated automatically. Terminal.
	ReasonObjectsGone xpv2.ConditionReason = "ObjectsGone"

	// ReasonChangeIgnored means that the provider of the cluster would ignore the change. Terminal.
	ReasonChangeIgnored xpv2.ConditionReason = "ChangeIgnoredByProvider"

	// ReasonInfrastructureTimedOut means that the infrastructure took longer than its timeout. The provider continues to wait, and deletes no object.
	ReasonInfrastructureTimedOut xpv2.ConditionReason = "InfrastructureTimedOut"

	// ReasonControlPlaneTimedOut means that the control plane took longer than its timeout. The provider continues to wait, and deletes no object.
	ReasonControlPlaneTimedOut xpv2.ConditionReason = "ControlPlaneTimedOut"

	// ReasonDeletionTimedOut means that the deletion takes longer than its timeout. It continues.
	ReasonDeletionTimedOut xpv2.ConditionReason = "DeletionTimedOut"

	// ReasonInUse means that the cluster is not deleted since deployments use its Site.
	ReasonInUse xpv2.ConditionReason = "InUse"

	// ReasonRollingOut means that machines of the control plane are replaced by the requested machines.
	ReasonRollingOut xpv2.ConditionReason = "RollingOut"

	// ReasonSiteGone means that the cluster's Site was deleted. It is not recreated automatically. Terminal.
	ReasonSiteGone xpv2.ConditionReason = "SiteGone"

	// ReasonDeleting means that the cluster is being deleted.
	ReasonDeleting xpv2.ConditionReason = "Deleting"
)

// AnnotationRecreate requests the recreation of deleted objects, including a Site: its value is their UIDs, with commas between them.
const AnnotationRecreate = "cluster.intentplane.dev/recreate"

// AnnotationApplied is on the objects that a ManagedCluster created. Its value is the digest of the desired state at the last write of the object.
const AnnotationApplied = "cluster.intentplane.dev/applied"

// LabelOwner is on the objects that a ManagedCluster created. Its value is the UID of the ManagedCluster.
const LabelOwner = "cluster.intentplane.dev/managed-cluster"
