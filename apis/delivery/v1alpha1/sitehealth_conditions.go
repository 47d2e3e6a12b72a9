package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Reasons of a SiteHealth's Ready condition, beside the reasons of a Site that does not serve: the reason of the first such Site counts.
const (
	// ReasonServing means that each Site serves, and that each route is accepted.
	ReasonServing xpv2.ConditionReason = "Serving"

	// ReasonRouteNotReady means that each Site serves, and that a route is not accepted.
	ReasonRouteNotReady xpv2.ConditionReason = "RouteNotReady"
)

// Reasons of the state of a Site's pods, beside SiteReasonPolicyDenied, SiteReasonKubeconfigGone, SiteReasonKubeconfigRefused,
// SiteReasonKubeconfigDenied, SiteReasonClusterUnreachable, SiteReasonAccessDenied and SiteReasonProviderAccessDenied for a Site that cannot be observed.
const (
	// HealthReasonWorkloadMissing means that the Site has no Deployment with the labels of the deployment, or that it is being deleted.
	HealthReasonWorkloadMissing = "WorkloadMissing"

	// HealthReasonOtherImage means that no container of a Deployment has the image.
	HealthReasonOtherImage = "OtherImage"

	// HealthReasonScaledToZero means that the desired number of pods is 0.
	HealthReasonScaledToZero = "ScaledToZero"

	// HealthReasonProgressing means that pods are being created or started.
	HealthReasonProgressing = "Progressing"

	// HealthReasonCrashLoop means that a container exits repeatedly.
	HealthReasonCrashLoop = "CrashLoopBackOff"

	// HealthReasonImagePull means that an image cannot be pulled.
	HealthReasonImagePull = "ImagePullBackOff"

	// HealthReasonConfigMissing means that a Secret or a ConfigMap that a container needs is missing, or a key of it.
	HealthReasonConfigMissing = "ConfigMissing"

	// HealthReasonUnschedulable means that no node has enough resources for a pod.
	HealthReasonUnschedulable = "Unschedulable"

	// HealthReasonQuotaExceeded means that a quota of the namespace allows no further pod.
	HealthReasonQuotaExceeded = "QuotaExceeded"

	// HealthReasonPodsRefused means that the cluster refuses to create pods.
	HealthReasonPodsRefused = "PodsRefused"

	// HealthReasonNotReady means that a container runs, and that its readiness probe does not succeed.
	HealthReasonNotReady = "NotReady"
)
