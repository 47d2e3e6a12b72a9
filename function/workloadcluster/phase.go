package workloadcluster

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// table of the legal changes of a phase.
func table() projection.Table[v1alpha1.Phase] {
	return projection.Table[v1alpha1.Phase]{
		Start: v1alpha1.PhasePending, Failed: v1alpha1.PhaseFailed,
		Next: v1alpha1.PhaseChanges(),
	}
}

// message says why a cluster is in its phase.
func (f *facts) message() string {
	if f.Problem != "" {
		return f.Problem
	}
	if f.Wait != "" {
		return f.Wait
	}
	switch p := f.phase(); {
	case p == v1alpha1.PhaseDeleting && f.gone():
		return "The Cluster is gone."
	case p == v1alpha1.PhaseDeleting:
		c := f.condition(clusterv1alpha1.TypeDeleting)
		return said("The Cluster is being deleted", string(c.Reason), c.Message)
	case f.ready():
		return "The cluster is ready."
	case p == v1alpha1.PhaseDegraded && f.reason() != clusterv1alpha1.ReasonDegraded && f.reason() != clusterv1alpha1.ReasonObjectsGone:
		return f.lost()
	}
	return f.waits()
}

// lost says what of a cluster was provisioned and is not any more. A kubeconfig that was never there is not what it lost.
func (f *facts) lost() string {
	for _, of := range []xpv2.ConditionType{clusterv1alpha1.TypeInfrastructureReady, clusterv1alpha1.TypeControlPlaneReady, clusterv1alpha1.TypeEndpointKnown} {
		if c := f.condition(of); c.Status != corev1.ConditionTrue {
			return said(string(of), string(c.Reason), c.Message)
		}
	}
	return f.waits()
}

// waits says what is waited for, or in the way.
func (f *facts) waits() string {
	if c, ok := f.unsynced(); ok {
		return said("The ManagedCluster cannot be carried out", "", c.Message)
	}
	switch c := f.verdict(); {
	case !f.seen():
		return "The ManagedCluster was not looked at yet."
	case !f.current():
		return "What is asked for is on its way to the cluster."
	case c.Reason == clusterv1alpha1.ReasonReady && f.upgrading():
		return "The cluster runs " + f.Observed.Status.AtProvider.Version + ", and " + f.Spec.Version + " is asked for."
	case c.Reason == clusterv1alpha1.ReasonReady && f.rebasing():
		t := f.Observed.Status.AtProvider.Topology
		return said("ClusterClass "+f.Spec.Topology.ClassRef.Name+" is asked for, and Cluster API is not done with it", t.Reason, t.Message)
	case c.Reason == clusterv1alpha1.ReasonReady && f.rolled():
		return said("Machines of the control plane are replaced", "", f.condition(clusterv1alpha1.TypeControlPlaneReady).Message)
	default:
		return said("", string(c.Reason), c.Message)
	}
}

// said joins what there is, and ends with a full stop.
func said(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	text := strings.Join(out, ": ")
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
