package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Reasons of a SiteSync's Ready condition, beside ReasonPolicyDenied. The gravest reason among the
// Sites wins. Terminal means that it stays until the position changes or a user repairs a Site.
const (
	// ReasonLive means that every Site whose wave has come runs its tree.
	ReasonLive xpv2.ConditionReason = "Live"

	// ReasonWaiting means that no Site can run its tree yet: a cluster is not ready, or the tree is not in the repository.
	ReasonWaiting xpv2.ConditionReason = "Waiting"

	// ReasonSyncing means that a Site was not proven to run its tree.
	ReasonSyncing xpv2.ConditionReason = "Syncing"

	// ReasonUnobserved means that no engine reports the tree that a Site runs. Terminal.
	ReasonUnobserved xpv2.ConditionReason = "Unobserved"

	// ReasonClusterTimedOut means that a Site's cluster took too long to get ready. Terminal.
	ReasonClusterTimedOut xpv2.ConditionReason = "ClusterTimedOut"

	// ReasonTimedOut means that a Site took too long. Terminal.
	ReasonTimedOut xpv2.ConditionReason = "TimedOut"

	// ReasonFailed means that the engine of a Site tried the tree and failed, or that the cluster of a Site declared final that an object failed. Terminal.
	ReasonFailed xpv2.ConditionReason = "Failed"
)

// TypeReleased is the condition that says whether the pause of a step is over. It is set once the spec of a SiteSync had a pause.
const TypeReleased xpv2.ConditionType = "Released"

// Reasons of condition Released.
const (
	// ReasonNoPause means that the spec has no pause.
	ReasonNoPause xpv2.ConditionReason = "NoPause"

	// ReasonPauseAwaited means that the pause has not begun: not all Sites of the step have been live.
	ReasonPauseAwaited xpv2.ConditionReason = "NotLive"

	// ReasonPausing means that the pause goes on.
	ReasonPausing xpv2.ConditionReason = "Pausing"

	// ReasonPauseOver means that the pause is over. It never begins again at the same position.
	ReasonPauseOver xpv2.ConditionReason = "PauseOver"

	// ReasonPromoted means that a user ended the pause.
	ReasonPromoted xpv2.ConditionReason = "Promoted"
)

// Reasons of a Site's state. The message has the report of the engine. A Site that waits for its cluster has the cluster's reason, as
// listed in docs/operations/sites.md.
const (
	// SiteReasonWaveNotReached means that the position has not come to the Site's wave.
	SiteReasonWaveNotReached = "WaveNotReached"

	// SiteReasonNotDelivered means that the claim's GitDelivery has not brought the tree to the repository.
	SiteReasonNotDelivered = "NotDelivered"

	// SiteReasonPolicyDenied means that the Site or the configuration may not be used from the namespace, or does not exist, or
	// that the path is not the claim's.
	SiteReasonPolicyDenied = "PolicyDenied"

	// SiteReasonKubeconfigGone means that the Secret with the kubeconfig, or its key, is missing.
	SiteReasonKubeconfigGone = "KubeconfigGone"

	// SiteReasonKubeconfigRefused means that the kubeconfig is not valid, or uses a feature that is not allowed.
	SiteReasonKubeconfigRefused = "KubeconfigRefused"

	// SiteReasonClusterUnreachable means that the cluster with the engine's object is unreachable.
	SiteReasonClusterUnreachable = "ClusterUnreachable"

	// SiteReasonKubeconfigDenied means that the cluster does not accept the credentials, which have expired or were withdrawn.
	SiteReasonKubeconfigDenied = "KubeconfigDenied"

	// SiteReasonAccessDenied means that the user of the kubeconfig may not read the engine's object.
	SiteReasonAccessDenied = "AccessDenied"

	// SiteReasonProviderAccessDenied means that the cluster of the control plane does not let the provider's own service account read the engine's object.
	SiteReasonProviderAccessDenied = "ProviderAccessDenied"

	// SiteReasonEngineNotInstalled means that the cluster does not serve the engine's kind.
	SiteReasonEngineNotInstalled = "EngineNotInstalled"

	// SiteReasonEngineObjectMissing means that the engine's object, or its source, does not exist.
	SiteReasonEngineObjectMissing = "EngineObjectMissing"

	// SiteReasonEngineNotProvable means that the engine's object is of a kind, or has a source, that names no commit.
	SiteReasonEngineNotProvable = "EngineNotProvable"

	// SiteReasonWrongSource means that the engine reads another branch or path.
	SiteReasonWrongSource = "WrongSource"

	// SiteReasonWrongCluster means that the engine applies to another cluster than the Site's.
	SiteReasonWrongCluster = "WrongCluster"

	// SiteReasonSuspended means that the engine is suspended.
	SiteReasonSuspended = "Suspended"

	// SiteReasonStalled means that the engine stopped trying until its object changes.
	SiteReasonStalled = "Stalled"

	// SiteReasonEngineFailed means that the engine failed.
	SiteReasonEngineFailed = "EngineFailed"

	// SiteReasonUnhealthy means that the engine applied the commit, and that an applied object is not healthy.
	SiteReasonUnhealthy = "Unhealthy"

	// SiteReasonProgressing means that the engine is applying the commit.
	SiteReasonProgressing = "Progressing"

	// SiteReasonOtherTree means that the commit that the engine applied holds another tree.
	SiteReasonOtherTree = "OtherTree"

	// SiteReasonNotApplied means that the engine is at the commit and does not report an object of the tree as applied.
	SiteReasonNotApplied = "NotApplied"

	// SiteReasonWeakProof means that the proof is weaker than acceptProof of the Site.
	SiteReasonWeakProof = "WeakProof"

	// SiteReasonProofUnknown means that the commit that the engine applied cannot be fetched: the repository does not answer, or does not have it.
	SiteReasonProofUnknown = "ProofUnknown"

	// SiteReasonUnobserved means that the Site has no engine that reports the tree it runs.
	SiteReasonUnobserved = "Unobserved"
)
