package workloadcluster

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// phaseTable returns the legal changes of a phase.
func phaseTable() projection.Table[v1alpha1.Phase] {
	return projection.Table[v1alpha1.Phase]{
		Start: v1alpha1.PhasePending, Failed: v1alpha1.PhaseFailed,
		Next: v1alpha1.PhaseChanges(),
	}
}

// phaseMessage returns status.message: why the cluster is in its phase.
func (f *facts) phaseMessage() string {
	if f.Problem != "" {
		return f.Problem
	}
	if f.BlockedBy != "" {
		return f.BlockedBy
	}
	switch p := f.currentPhase(); {
	case p == v1alpha1.PhaseDeleting && f.isClusterGone():
		return "The Cluster is gone."
	case p == v1alpha1.PhaseDeleting:
		c := f.conditionOf(clusterv1alpha1.TypeDeleting)
		return joinSentence("The Cluster is being deleted", string(c.Reason), c.Message)
	case f.isClusterReady():
		return "The cluster is ready."
	case p == v1alpha1.PhaseDegraded && f.readyReason() != clusterv1alpha1.ReasonDegraded && f.readyReason() != clusterv1alpha1.ReasonObjectsGone:
		return f.degradedMessage()
	}
	return f.progressMessage()
}

// degradedMessage names the first part that the cluster lost since it was provisioned. The kubeconfig is not among them: it may never have
// been there.
func (f *facts) degradedMessage() string {
	for _, conditionType := range []xpv2.ConditionType{clusterv1alpha1.TypeInfrastructureReady, clusterv1alpha1.TypeControlPlaneReady, clusterv1alpha1.TypeEndpointKnown} {
		if c := f.conditionOf(conditionType); c.Status != corev1.ConditionTrue {
			return joinSentence(string(conditionType), string(c.Reason), c.Message)
		}
	}
	return f.progressMessage()
}

// progressMessage names the condition that the cluster waits for, or the obstacle.
func (f *facts) progressMessage() string {
	if c, ok := f.notSyncedCondition(); ok {
		return joinSentence("The ManagedCluster cannot be applied", "", c.Message)
	}
	switch c := f.readyCondition(); {
	case !f.isClusterObserved():
		return "The provider has not observed the ManagedCluster yet."
	case !f.isAboutCurrentSpec():
		return "The change of the spec is not applied to the cluster yet."
	case c.Reason == clusterv1alpha1.ReasonReady && f.isUpgrading():
		return "The cluster runs " + f.Observed.Status.AtProvider.Version + ", and " + f.Spec.Version + " is requested."
	case c.Reason == clusterv1alpha1.ReasonReady && f.isClassRebasing():
		t := f.Observed.Status.AtProvider.Topology
		return joinSentence("ClusterClass "+f.Spec.Topology.ClassRef.Name+" is requested, and Cluster API has not applied it yet", t.Reason, t.Message)
	case c.Reason == clusterv1alpha1.ReasonReady && f.isRollingOut():
		return joinSentence("Machines of the control plane are being replaced", "", f.conditionOf(clusterv1alpha1.TypeControlPlaneReady).Message)
	default:
		return joinSentence("", string(c.Reason), c.Message)
	}
}

// joinSentence joins the parts that are not empty with colons, and ends with a full stop.
func joinSentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": ")
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
