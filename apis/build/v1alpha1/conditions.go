package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Reasons of an ImageBuild's Ready condition.
const (
	// ReasonBuilt means that the requested image exists.
	ReasonBuilt xpv2.ConditionReason = "Built"

	// ReasonBuilding means that the Build of the requested image runs.
	ReasonBuilding xpv2.ConditionReason = "Building"

	// ReasonQueued means that kpack has not begun to build the requested image: it has not observed the request yet, or another Build runs.
	ReasonQueued xpv2.ConditionReason = "Queued"

	// ReasonRetrying means that the Build failed because of the infrastructure, and that the provider retries it.
	ReasonRetrying xpv2.ConditionReason = "Retrying"

	// ReasonPodPending means that a Build runs whose pod has not begun within two minutes.
	ReasonPodPending xpv2.ConditionReason = "PodPending"

	// ReasonBuildFailed means that the Build of the requested image failed. Terminal.
	ReasonBuildFailed xpv2.ConditionReason = "BuildFailed"

	// ReasonBuildDisrupted means that the Build of the wanted commit failed for another cause than its source, and that no retry is left. Terminal.
	ReasonBuildDisrupted xpv2.ConditionReason = "BuildDisrupted"

	// ReasonRebuildLoop means that kpack built the same commit more than three times within an hour. The provider accepts the next image after the hour.
	ReasonRebuildLoop xpv2.ConditionReason = "RebuildLoop"

	// ReasonBuilderNotReady means that the builder is not ready. No build failed.
	ReasonBuilderNotReady xpv2.ConditionReason = "BuilderNotReady"

	// ReasonBuilderMissing means that the builder does not exist, or that neither the spec nor the configuration names one.
	ReasonBuilderMissing xpv2.ConditionReason = "BuilderMissing"

	// ReasonKpackMissing means that the cluster does not serve the kinds of kpack.
	ReasonKpackMissing xpv2.ConditionReason = "KpackMissing"

	// ReasonImageRefused means that kpack refuses the Image. Terminal.
	ReasonImageRefused xpv2.ConditionReason = "ImageRefused"

	// ReasonRevisionNotFound means that the repository has no branch and no tag of the revision's name.
	ReasonRevisionNotFound xpv2.ConditionReason = "RevisionNotFound"

	// ReasonRevisionAmbiguous means that the repository has a branch and a tag of the revision's name. Terminal.
	ReasonRevisionAmbiguous xpv2.ConditionReason = "RevisionAmbiguous"

	// ReasonSourceUnreachable means that the repository is unreachable.
	ReasonSourceUnreachable xpv2.ConditionReason = "SourceUnreachable"

	// ReasonSourceDenied means that the repository does not exist, that its server refuses the credentials or cannot be trusted, or that it is at an address
	// that must not be reached.
	ReasonSourceDenied xpv2.ConditionReason = "SourceDenied"

	// ReasonCredentialsGone means that the Secret with the credentials of the repository, or a key of it, does not exist.
	ReasonCredentialsGone xpv2.ConditionReason = "CredentialsGone"

	// ReasonNameTaken means that an Image of kpack of this name exists that does not belong to the ImageBuild. Nothing was written. Terminal.
	ReasonNameTaken xpv2.ConditionReason = "NameTaken"

	// ReasonForeignImage means that the last Build names an image outside of its requested repository. The provider does not accept it. Terminal.
	ReasonForeignImage xpv2.ConditionReason = "ForeignImage"

	// ReasonConfigurationMissing means that the configuration does not exist.
	ReasonConfigurationMissing xpv2.ConditionReason = "ConfigurationMissing"

	// ReasonPolicyDenied means that the configuration does not allow the build. Terminal.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonInvalid means that a field of the spec is invalid; the message names it. Terminal.
	ReasonInvalid xpv2.ConditionReason = "Invalid"

	// ReasonNotObserved means that the repository was not observed yet, or that kpack has no status for the Image.
	ReasonNotObserved xpv2.ConditionReason = "NotObserved"
)

// Reasons why a Build of kpack failed.
const (
	// ReasonFailureStep means that a step ended with a failure.
	ReasonFailureStep = "StepFailed"

	// ReasonFailureEvicted means that the pod was evicted: the node had no room for it, was drained or killed its step, or the kubelet refused the pod.
	ReasonFailureEvicted = "Evicted"

	// ReasonFailureNodeLost means that the node of the pod was lost or shut down, or did not report the end of a step.
	ReasonFailureNodeLost = "NodeLost"

	// ReasonFailurePreempted means that a pod with a higher priority preempted the pod.
	ReasonFailurePreempted = "Preempted"

	// ReasonFailureDeadline means that the build took longer than its timeout.
	ReasonFailureDeadline = "DeadlineExceeded"

	// ReasonFailurePodDeleted means that the pod was deleted while a step ran.
	ReasonFailurePodDeleted = "PodDeleted"

	// ReasonFailureNotStarted means that the pod of the Build could not be created, ended before its first step, or could not start the container of a
	// step.
	ReasonFailureNotStarted = "NotStarted"
)

// FailureReasons returns all reasons why a Build of kpack failed.
func FailureReasons() []string {
	return []string{
		ReasonFailureStep, ReasonFailureEvicted, ReasonFailureNodeLost, ReasonFailurePreempted, ReasonFailureDeadline, ReasonFailurePodDeleted, ReasonFailureNotStarted,
	}
}
