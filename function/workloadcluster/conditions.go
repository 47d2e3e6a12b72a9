package workloadcluster

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// repeated are the types of the conditions of a ManagedCluster that its WorkloadCluster has too.
func repeated() []xpv2.ConditionType {
	return []xpv2.ConditionType{
		clusterv1alpha1.TypeInfrastructureReady, clusterv1alpha1.TypeControlPlaneInitialized, clusterv1alpha1.TypeControlPlaneReady,
		clusterv1alpha1.TypeEndpointKnown, clusterv1alpha1.TypeKubeconfigReady, clusterv1alpha1.TypeProviderHealthy,
		clusterv1alpha1.TypePaused, clusterv1alpha1.TypeDeleting,
	}
}

// conditions projects facts. All types are always there: Crossplane leaves what is no longer returned as it was.
func conditions(f *facts) []projection.Condition {
	out := []projection.Condition{valid(f)}
	for _, of := range repeated() {
		out = append(out, repeat(f, of))
	}
	return append(out, sitePublished(f), stalled(f), reconciling(f))
}

func repeat(f *facts, of xpv2.ConditionType) projection.Condition {
	c := f.condition(of)
	if c.Reason == "" {
		return projection.Unknown(string(of), v1alpha1.ReasonNotObserved, "")
	}
	return projection.Condition{Type: string(of), Status: c.Status, Reason: string(c.Reason), Message: c.Message}
}

func valid(f *facts) projection.Condition {
	switch {
	case f.Problem != "":
		return projection.Is(v1alpha1.TypeValid, false, f.Because, f.Problem)
	case f.refused():
		return projection.Is(v1alpha1.TypeValid, false, string(f.reason()), f.verdict().Message)
	case !f.current():
		return projection.Unknown(v1alpha1.TypeValid, v1alpha1.ReasonNotObserved, "")
	}
	return projection.Is(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, "")
}

func sitePublished(f *facts) projection.Condition {
	const of = v1alpha1.TypeSitePublished
	switch {
	case f.Observed != nil && f.Observed.Status.AtProvider.SiteName != "":
		return projection.Is(of, true, v1alpha1.ReasonPublished, "")
	case f.current() && f.reason() == clusterv1alpha1.ReasonSiteGone:
		return projection.Is(of, false, string(f.reason()), f.verdict().Message)
	case !f.Spec.Site.Publish:
		return projection.Is(of, false, v1alpha1.ReasonNotRequested, "")
	case f.refused():
		return projection.Is(of, false, string(f.reason()), f.verdict().Message)
	}
	return projection.Is(of, false, v1alpha1.ReasonNotPublished, "It is made once the cluster is ready.")
}

// stalled says that nothing goes on until somebody acts.
func stalled(f *facts) projection.Condition {
	const of = v1alpha1.TypeStalled
	switch {
	case f.Problem != "":
		return projection.Is(of, true, f.Because, f.Problem)
	case f.refused(), f.late(), f.current() && (f.reason() == clusterv1alpha1.ReasonObjectsGone || f.reason() == clusterv1alpha1.ReasonSiteGone):
		return projection.Is(of, true, string(f.reason()), f.verdict().Message)
	case f.phase() == v1alpha1.PhaseDeleting && f.gone():
		return projection.Is(of, true, v1alpha1.ReasonClusterGone, f.message())
	}
	return projection.Is(of, false, v1alpha1.ReasonProgressing, "")
}

// reconciling says that work goes on, or that something is waited for. It is never true beside Stalled.
func reconciling(f *facts) projection.Condition {
	const of = v1alpha1.TypeReconciling
	if stalled(f).Status == corev1.ConditionTrue || f.ready() {
		return projection.Is(of, false, v1alpha1.ReasonIdle, "")
	}
	return projection.Is(of, true, f.doing(), strings.TrimSpace(f.message()))
}

// doing is the reason of what goes on.
func (f *facts) doing() string {
	c := f.verdict()
	_, unsynced := f.unsynced()
	switch {
	case f.phase() == v1alpha1.PhaseDeleting:
		return string(clusterv1alpha1.ReasonDeleting)
	case unsynced:
		return v1alpha1.ReasonNotSynced
	case !f.seen() || !f.current():
		return v1alpha1.ReasonProgressing
	case c.Status != corev1.ConditionTrue:
		return string(c.Reason)
	case f.upgrading():
		return v1alpha1.ReasonUpgrading
	case f.rebasing():
		return v1alpha1.ReasonRebasing
	case f.rolled():
		return string(clusterv1alpha1.ReasonRollingOut)
	}
	return v1alpha1.ReasonProgressing
}
