package workloadcluster

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// mirroredConditionTypes returns the types of the conditions of a ManagedCluster that its WorkloadCluster repeats.
func mirroredConditionTypes() []xpv2.ConditionType {
	return []xpv2.ConditionType{
		clusterv1alpha1.TypeInfrastructureReady, clusterv1alpha1.TypeControlPlaneInitialized, clusterv1alpha1.TypeControlPlaneReady,
		clusterv1alpha1.TypeEndpointKnown, clusterv1alpha1.TypeKubeconfigReady, clusterv1alpha1.TypeProviderHealthy,
		clusterv1alpha1.TypePaused, clusterv1alpha1.TypeDeleting,
	}
}

// projectConditions returns all conditions that follow from facts. All types are always returned: Crossplane does not remove a condition that
// the function stops returning.
func projectConditions(f *facts) []projection.Condition {
	out := []projection.Condition{validCondition(f)}
	for _, conditionType := range mirroredConditionTypes() {
		out = append(out, mirrorCondition(f, conditionType))
	}
	return append(out, sitePublishedCondition(f), stalledCondition(f), reconcilingCondition(f))
}

// mirrorCondition returns the condition of the ManagedCluster as one of the WorkloadCluster.
func mirrorCondition(f *facts, conditionType xpv2.ConditionType) projection.Condition {
	c := f.conditionOf(conditionType)
	if c.Reason == "" {
		return projection.Unknown(string(conditionType), v1alpha1.ReasonNotObserved, "")
	}
	return projection.Condition{Type: string(conditionType), Status: c.Status, Reason: string(c.Reason), Message: c.Message}
}

func validCondition(f *facts) projection.Condition {
	switch {
	case f.Problem != "":
		return projection.Is(v1alpha1.TypeValid, false, f.ProblemReason, f.Problem)
	case f.isSpecRefused():
		return projection.Is(v1alpha1.TypeValid, false, string(f.readyReason()), f.readyCondition().Message)
	case !f.isAboutCurrentSpec():
		return projection.Unknown(v1alpha1.TypeValid, v1alpha1.ReasonNotObserved, "")
	}
	return projection.Is(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, "")
}

func sitePublishedCondition(f *facts) projection.Condition {
	const conditionType = v1alpha1.TypeSitePublished
	switch {
	case f.Observed != nil && f.Observed.Status.AtProvider.SiteName != "":
		return projection.Is(conditionType, true, v1alpha1.ReasonPublished, "")
	case f.isAboutCurrentSpec() && f.readyReason() == clusterv1alpha1.ReasonSiteGone:
		return projection.Is(conditionType, false, string(f.readyReason()), f.readyCondition().Message)
	case !f.Spec.Site.Publish:
		return projection.Is(conditionType, false, v1alpha1.ReasonNotRequested, "")
	case f.isSpecRefused():
		return projection.Is(conditionType, false, string(f.readyReason()), f.readyCondition().Message)
	}
	return projection.Is(conditionType, false, v1alpha1.ReasonNotPublished, "It is made once the cluster is ready.")
}

// stalledCondition is true when the cluster makes no progress until a user acts.
func stalledCondition(f *facts) projection.Condition {
	const conditionType = v1alpha1.TypeStalled
	switch {
	case f.Problem != "":
		return projection.Is(conditionType, true, f.ProblemReason, f.Problem)
	case f.isSpecRefused(), f.hasTimedOut(), f.isAboutCurrentSpec() && (f.readyReason() == clusterv1alpha1.ReasonObjectsGone || f.readyReason() == clusterv1alpha1.ReasonSiteGone):
		return projection.Is(conditionType, true, string(f.readyReason()), f.readyCondition().Message)
	case f.currentPhase() == v1alpha1.PhaseDeleting && f.isClusterGone():
		return projection.Is(conditionType, true, v1alpha1.ReasonClusterGone, f.phaseMessage())
	}
	return projection.Is(conditionType, false, v1alpha1.ReasonProgressing, "")
}

// reconcilingCondition is true while the provider works on the cluster or waits for something. It is never true beside Stalled.
func reconcilingCondition(f *facts) projection.Condition {
	const conditionType = v1alpha1.TypeReconciling
	if stalledCondition(f).Status == corev1.ConditionTrue || f.isClusterReady() {
		return projection.Is(conditionType, false, v1alpha1.ReasonIdle, "")
	}
	return projection.Is(conditionType, true, f.reconcilingReason(), strings.TrimSpace(f.phaseMessage()))
}

// reconcilingReason returns the reason of the condition Reconciling.
func (f *facts) reconcilingReason() string {
	c := f.readyCondition()
	_, unsynced := f.notSyncedCondition()
	switch {
	case f.currentPhase() == v1alpha1.PhaseDeleting:
		return string(clusterv1alpha1.ReasonDeleting)
	case unsynced:
		return v1alpha1.ReasonNotSynced
	case !f.isClusterObserved() || !f.isAboutCurrentSpec():
		return v1alpha1.ReasonProgressing
	case c.Status != corev1.ConditionTrue:
		return string(c.Reason)
	case f.isUpgrading():
		return v1alpha1.ReasonUpgrading
	case f.isClassRebasing():
		return v1alpha1.ReasonRebasing
	case f.isRollingOut():
		return string(clusterv1alpha1.ReasonRollingOut)
	}
	return v1alpha1.ReasonProgressing
}
