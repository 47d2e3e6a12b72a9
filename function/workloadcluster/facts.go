package workloadcluster

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// objectMissing is the reason of a condition of a ManagedCluster whose Cluster does not exist.
const objectMissing = "ObjectMissing"

// facts are all that a status follows from.
type facts struct {
	// Digest of the spec, for status.specDigest.
	Digest string

	// Spec of the WorkloadCluster, with its defaults.
	Spec v1alpha1.WorkloadClusterSpec

	// Problem because of which no ManagedCluster can be requested, and the condition reason for it. Empty if there is none.
	Problem, ProblemReason string

	// BlockedBy says which object has to be deleted before a ManagedCluster can be requested. Empty if none has.
	BlockedBy string

	// Desired ManagedCluster, unless there is a problem, and Observed one. Nil means none.
	Desired, Observed *clusterv1alpha1.ManagedCluster

	// matchesDesired is true if the spec of the observed ManagedCluster equals the desired spec.
	matchesDesired bool
}

// conditionOf returns a condition of the ManagedCluster.
func (f *facts) conditionOf(conditionType xpv2.ConditionType) xpv2.Condition {
	if f.Observed == nil {
		return xpv2.Condition{Type: conditionType, Status: corev1.ConditionUnknown}
	}
	return f.Observed.Status.GetCondition(conditionType)
}

func (f *facts) isConditionTrue(conditionType xpv2.ConditionType) bool {
	return f.conditionOf(conditionType).Status == corev1.ConditionTrue
}

// readyCondition returns the ManagedCluster's condition Ready. Its reason is empty until the provider observed the cluster.
func (f *facts) readyCondition() xpv2.Condition { return f.conditionOf(xpv2.TypeReady) }

func (f *facts) readyReason() xpv2.ConditionReason { return f.readyCondition().Reason }

// isClusterObserved reports whether the provider observed the cluster at least once.
func (f *facts) isClusterObserved() bool { return f.readyReason() != "" }

// isAboutCurrentSpec reports whether the condition Ready is about the current spec.
func (f *facts) isAboutCurrentSpec() bool {
	return f.isClusterObserved() && f.matchesDesired && f.readyCondition().ObservedGeneration == f.Observed.GetGeneration()
}

// isForeignCluster reports whether the observed Cluster is not the Cluster that the ManagedCluster made.
func (f *facts) isForeignCluster() bool {
	return f.readyReason() == clusterv1alpha1.ReasonNameTaken || f.readyReason() == clusterv1alpha1.ReasonObjectsGone
}

// observedUID returns the UID of the Cluster when it was last observed, or "".
func (f *facts) observedUID() string {
	if f.Observed == nil {
		return ""
	}
	return f.Observed.Status.AtProvider.UID
}

// isClusterGone reports whether the Cluster existed, and is known to be deleted.
func (f *facts) isClusterGone() bool {
	return f.observedUID() != "" && f.conditionOf(clusterv1alpha1.TypeDeleting).Reason == objectMissing
}

// isClusterDeleting reports whether the Cluster is being deleted, or is gone.
func (f *facts) isClusterDeleting() bool {
	if f.Observed == nil || f.observedUID() == "" || f.readyReason() == clusterv1alpha1.ReasonNameTaken {
		return false
	}
	return f.Observed.GetDeletionTimestamp() != nil || f.isConditionTrue(clusterv1alpha1.TypeDeleting) || f.isClusterGone()
}

// isProvisioned reports whether infrastructure, control plane and endpoint of our cluster are there now.
func (f *facts) isProvisioned() bool {
	return f.isConditionTrue(clusterv1alpha1.TypeInfrastructureReady) && f.isConditionTrue(clusterv1alpha1.TypeControlPlaneReady) && f.isConditionTrue(clusterv1alpha1.TypeEndpointKnown) && !f.isForeignCluster()
}

// isRollingOut reports whether a control plane that was complete is being replaced on request of a user, while its API server
// answers and all else is there.
func (f *facts) isRollingOut() bool {
	plane := f.conditionOf(clusterv1alpha1.TypeControlPlaneReady)
	return f.wasProvisioned() && plane.Status == corev1.ConditionFalse && plane.Reason == clusterv1alpha1.ReasonRollingOut &&
		f.isConditionTrue(clusterv1alpha1.TypeInfrastructureReady) && f.isConditionTrue(clusterv1alpha1.TypeEndpointKnown) && f.isConditionTrue(clusterv1alpha1.TypeKubeconfigReady) && !f.isForeignCluster()
}

// wasProvisioned reports whether this Cluster was provisioned at any time.
func (f *facts) wasProvisioned() bool {
	return f.observedUID() != "" && f.Observed.Status.AtProvider.Provisioned != nil && f.Observed.Status.AtProvider.Provisioned.UID == f.observedUID()
}

// isSpecRefused reports whether the provider refused the current spec, so that a user has to change it.
func (f *facts) isSpecRefused() bool {
	return f.isAboutCurrentSpec() && slices.Contains([]xpv2.ConditionReason{
		clusterv1alpha1.ReasonPolicyDenied, clusterv1alpha1.ReasonNameTaken, clusterv1alpha1.ReasonChangeIgnored,
	}, f.readyReason())
}

// hasTimedOut reports whether provisioning took longer than spec.timeouts. The provider goes on waiting all the same.
func (f *facts) hasTimedOut() bool {
	return f.isAboutCurrentSpec() && slices.Contains([]xpv2.ConditionReason{
		clusterv1alpha1.ReasonInfrastructureTimedOut, clusterv1alpha1.ReasonControlPlaneTimedOut,
	}, f.readyReason())
}

// isUpgrading reports whether the running version is not the requested version. An unknown version does not count: it may stay unknown for ever.
func (f *facts) isUpgrading() bool {
	if f.Observed == nil || f.Spec.Version == "" || f.Observed.Status.AtProvider.Version == "" {
		return false
	}
	requested, runs := strings.TrimPrefix(f.Spec.Version, "v"), strings.TrimPrefix(f.Observed.Status.AtProvider.Version, "v")
	rest, ok := strings.CutPrefix(runs, requested)
	return !ok || rest != "" && !strings.ContainsAny(rest[:1], ".+-")
}

// isClassRebasing reports whether the cluster does not have the requested ClusterClass, or whether Cluster API still applies it. The
// ManagedCluster remembers which class the cluster had when Cluster API was last done.
func (f *facts) isClassRebasing() bool {
	if f.Observed == nil || f.Spec.Topology == nil {
		return false
	}
	t := f.Observed.Status.AtProvider.Topology
	return t != nil && (t.Rebasing || t.Class != "" && t.Class != f.Spec.Topology.ClassRef.Name)
}

// notSyncedCondition returns the condition Synced of a ManagedCluster, and whether the provider failed to apply it.
func (f *facts) notSyncedCondition() (xpv2.Condition, bool) {
	c := f.conditionOf(xpv2.TypeSynced)
	return c, c.Status == corev1.ConditionFalse
}

// isManagedClusterReady reports whether the provider applied the current spec and the cluster is ready.
func (f *facts) isManagedClusterReady() bool {
	return f.isAboutCurrentSpec() && f.isConditionTrue(xpv2.TypeReady) && f.isConditionTrue(xpv2.TypeSynced)
}

// isClusterReady reports whether the cluster is in its desired state: the composite's Ready.
func (f *facts) isClusterReady() bool {
	return f.Problem == "" && f.currentPhase() == v1alpha1.PhaseProvisioned && f.isManagedClusterReady() && !f.isUpgrading() && !f.isClassRebasing() && !f.isRollingOut()
}
