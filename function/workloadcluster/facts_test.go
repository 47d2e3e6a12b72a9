package workloadcluster

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

func TestUpgrading(t *testing.T) {
	cases := map[string]struct {
		reason      string
		asked, runs string
		want        bool
	}{
		"Same":      {reason: "A cluster that runs the requested version is not upgrading.", asked: "v1.34.2", runs: "v1.34.2"},
		"Build":     {reason: "The suffix that a cloud adds to a version is ignored.", asked: "v1.34.2", runs: "v1.34.2-eks-1a2b"},
		"Minor":     {reason: "A request for a minor version accepts each of its patch versions.", asked: "1.34", runs: "v1.34.2-eks-1a2b"},
		"Other":     {reason: "A cluster that runs another minor version is upgrading.", asked: "v1.35.0", runs: "v1.34.2", want: true},
		"Longer":    {reason: "A minor version that begins with the digits of the requested one is another one.", asked: "v1.3", runs: "v1.34.2", want: true},
		"LongPatch": {reason: "A patch version that begins with the digits of the requested one is another one.", asked: "v1.34.1", runs: "v1.34.12", want: true},
		"Unknown":   {reason: "An unknown version does not count as an upgrade.", asked: "v1.34.2"},
		"NotAsked":  {reason: "A spec without a version accepts every version.", runs: "v1.34.2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &facts{Observed: &clusterv1alpha1.ManagedCluster{}}
			f.Spec.Version, f.Observed.Status.AtProvider.Version = tc.asked, tc.runs
			if diff := cmp.Diff(tc.want, f.isUpgrading()); diff != "" {
				t.Errorf("\n%s\nupgrading(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUpgrade(t *testing.T) {
	w := newReadyWorld(t)
	w.in.Spec.Version = "v1.35.0"
	w.runFunction()
	w.checkState("it is on its way", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonProgressing)
	w.reportReady(clusterv1alpha1.ReasonReady, "", nil)
	w.checkState("the old version runs", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonUpgrading)
	w.reportReady(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) { s.AtProvider.Version = "v1.35.0" })
	w.checkState("the new version runs", v1alpha1.PhaseProvisioned, true, "", "")
	w.in.Spec.Version = "v1.36.0"
	w.runFunction()
	w.reportReady(clusterv1alpha1.ReasonChangeIgnored, "words", nil)
	w.checkState("the infrastructure provider ignores the change", v1alpha1.PhaseProvisioned, false, "ChangeIgnoredByProvider", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestRebase moves a cluster to another ClusterClass, and back before Cluster API is done.
func TestRebase(t *testing.T) {
	w := newReadyWorld(t)
	report := func(topology clusterv1alpha1.ObservedTopology) {
		w.reportReady(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) { s.AtProvider.Topology = &topology })
	}
	report(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.checkState("it is made of its class", v1alpha1.PhaseProvisioned, true, "", "")
	w.in.Spec.Topology.ClassRef.Name = "large"
	w.runFunction()
	w.checkState("it is on its way", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonProgressing)
	report(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.checkState("the Cluster does not name it yet", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	report(clusterv1alpha1.ObservedTopology{Class: "standard", Rebasing: true, Reason: "ReconcileFailed", Message: "no such template"})
	w.checkState("Cluster API cannot do it", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	const want = "ClusterClass large is requested, and Cluster API has not applied it yet: ReconcileFailed: no such template."
	if diff := cmp.Diff([]string{want, want}, []string{w.out.Status.Message, w.condition(v1alpha1.TypeReconciling).Message}); diff != "" {
		t.Errorf("messages: -want, +got:\n%s", diff)
	}
	w.in.Spec.Topology.ClassRef.Name = "standard"
	w.runFunction()
	report(clusterv1alpha1.ObservedTopology{Class: "standard", Rebasing: true})
	w.checkState("moving back is a rebase too", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	report(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.checkState("it is done", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestRollingOut replaces a control plane, which is not available for a moment.
func TestRollingOut(t *testing.T) {
	w := newReadyWorld(t)
	says := func(s corev1.ConditionStatus, reason xpv2.ConditionReason, kubeconfig corev1.ConditionStatus) {
		w.reportReady(clusterv1alpha1.ReasonReady, "", func(*clusterv1alpha1.ManagedClusterStatus) {
			w.setCondition(clusterv1alpha1.TypeControlPlaneReady, s, reason, "etcd is not well")
			w.setCondition(clusterv1alpha1.TypeKubeconfigReady, kubeconfig, "R", "")
		})
	}
	says("False", clusterv1alpha1.ReasonRollingOut, "True")
	w.checkState("it is replaced", v1alpha1.PhaseProvisioned, false, "", "RollingOut")
	if diff := cmp.Diff("Machines of the control plane are being replaced: etcd is not well.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
	says("True", "Available", "True")
	w.checkState("it is done", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	says("False", clusterv1alpha1.ReasonRollingOut, "False")
	w.checkState("its API server does not answer", v1alpha1.PhaseDegraded, false, "", v1alpha1.ReasonProgressing)
	says("False", "NotReady", "True")
	w.checkState("the control plane fails though no replacement was requested", v1alpha1.PhaseDegraded, false, "", v1alpha1.ReasonProgressing)
}
