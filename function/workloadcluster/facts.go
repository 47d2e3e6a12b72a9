package workloadcluster

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// objectMissing is the reason with which a ManagedCluster says of a condition that there is no Cluster.
const objectMissing = "ObjectMissing"

// facts are all that a status is made of.
type facts struct {
	// Digest of the spec that the facts are about.
	Digest string

	// Spec that is asked for.
	Spec v1alpha1.WorkloadClusterSpec

	// Problem because of which nothing can be asked for, and the reason to give. Empty if there is none.
	Problem, Because string

	// Wait says what has to go before anything can be asked for. Empty if nothing has.
	Wait string

	// Desired ManagedCluster, unless there is a problem, and Observed one. Nil means none.
	Desired, Observed *clusterv1alpha1.ManagedCluster

	// carried is true if the observed ManagedCluster asks for what is desired.
	carried bool
}

// condition of the ManagedCluster.
func (f *facts) condition(of xpv2.ConditionType) xpv2.Condition {
	if f.Observed == nil {
		return xpv2.Condition{Type: of, Status: corev1.ConditionUnknown}
	}
	return f.Observed.Status.GetCondition(of)
}

func (f *facts) is(of xpv2.ConditionType) bool { return f.condition(of).Status == corev1.ConditionTrue }

// verdict is what the ManagedCluster's Ready says. Its reason is empty before anybody looked.
func (f *facts) verdict() xpv2.Condition { return f.condition(xpv2.TypeReady) }

func (f *facts) reason() xpv2.ConditionReason { return f.verdict().Reason }

// seen is true once somebody looked.
func (f *facts) seen() bool { return f.reason() != "" }

// current is true for a verdict on what is asked for now.
func (f *facts) current() bool {
	return f.seen() && f.carried && f.verdict().ObservedGeneration == f.Observed.GetGeneration()
}

// foreign is true where what is there is another cluster than ours.
func (f *facts) foreign() bool {
	return f.reason() == clusterv1alpha1.ReasonNameTaken || f.reason() == clusterv1alpha1.ReasonObjectsGone
}

// uid of the Cluster when it was last seen.
func (f *facts) uid() string {
	if f.Observed == nil {
		return ""
	}
	return f.Observed.Status.AtProvider.UID
}

// gone is true for a Cluster that was there, and is known not to be any more.
func (f *facts) gone() bool {
	return f.uid() != "" && f.condition(clusterv1alpha1.TypeDeleting).Reason == objectMissing
}

// deleting is true for a Cluster that goes, or is gone.
func (f *facts) deleting() bool {
	if f.Observed == nil || f.uid() == "" || f.reason() == clusterv1alpha1.ReasonNameTaken {
		return false
	}
	return f.Observed.GetDeletionTimestamp() != nil || f.is(clusterv1alpha1.TypeDeleting) || f.gone()
}

// provisioned is true for a cluster that is all there now.
func (f *facts) provisioned() bool {
	return f.is(clusterv1alpha1.TypeInfrastructureReady) && f.is(clusterv1alpha1.TypeControlPlaneReady) && f.is(clusterv1alpha1.TypeEndpointKnown) && !f.foreign()
}

// rolled is true for a cluster whose control plane was all there, and is replaced because somebody asked for another one: its API server
// answers, and all else is there.
func (f *facts) rolled() bool {
	plane := f.condition(clusterv1alpha1.TypeControlPlaneReady)
	return f.wasProvisioned() && plane.Status == corev1.ConditionFalse && plane.Reason == clusterv1alpha1.ReasonRollingOut &&
		f.is(clusterv1alpha1.TypeInfrastructureReady) && f.is(clusterv1alpha1.TypeEndpointKnown) && f.is(clusterv1alpha1.TypeKubeconfigReady) && !f.foreign()
}

// wasProvisioned is true for a cluster that was all there once.
func (f *facts) wasProvisioned() bool {
	return f.uid() != "" && f.Observed.Status.AtProvider.Provisioned != nil && f.Observed.Status.AtProvider.Provisioned.UID == f.uid()
}

// refused is true for what a person has to change.
func (f *facts) refused() bool {
	return f.current() && slices.Contains([]xpv2.ConditionReason{
		clusterv1alpha1.ReasonPolicyDenied, clusterv1alpha1.ReasonNameTaken, clusterv1alpha1.ReasonChangeIgnored,
	}, f.reason())
}

// late is true for what took longer than it may. It is waited on all the same.
func (f *facts) late() bool {
	return f.current() && slices.Contains([]xpv2.ConditionReason{
		clusterv1alpha1.ReasonInfrastructureTimedOut, clusterv1alpha1.ReasonControlPlaneTimedOut,
	}, f.reason())
}

// upgrading is true while another version runs than was asked for. What is not known is not waited for: it may never be.
func (f *facts) upgrading() bool {
	if f.Observed == nil || f.Spec.Version == "" || f.Observed.Status.AtProvider.Version == "" {
		return false
	}
	asked, runs := strings.TrimPrefix(f.Spec.Version, "v"), strings.TrimPrefix(f.Observed.Status.AtProvider.Version, "v")
	rest, ok := strings.CutPrefix(runs, asked)
	return !ok || rest != "" && !strings.ContainsAny(rest[:1], ".+-")
}

// rebasing is true while a cluster is not made of the ClusterClass that was asked for, or while it is being made of it: what it was made
// of when Cluster API was last done is remembered by the ManagedCluster.
func (f *facts) rebasing() bool {
	if f.Observed == nil || f.Spec.Topology == nil {
		return false
	}
	t := f.Observed.Status.AtProvider.Topology
	return t != nil && (t.Rebasing || t.Class != "" && t.Class != f.Spec.Topology.ClassRef.Name)
}

// unsynced is the condition of a ManagedCluster that cannot be carried out.
func (f *facts) unsynced() (xpv2.Condition, bool) {
	c := f.condition(xpv2.TypeSynced)
	return c, c.Status == corev1.ConditionFalse
}

// managedReady is true for a ManagedCluster that carried out what is asked for now.
func (f *facts) managedReady() bool {
	return f.current() && f.is(xpv2.TypeReady) && f.is(xpv2.TypeSynced)
}

// ready is true for a cluster that is as it was asked for.
func (f *facts) ready() bool {
	return f.Problem == "" && f.phase() == v1alpha1.PhaseProvisioned && f.managedReady() && !f.upgrading() && !f.rebasing() && !f.rolled()
}
