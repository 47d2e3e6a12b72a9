package workloadcluster

import (
	"encoding/json"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

func TestCreation(t *testing.T) {
	w := newWorld(t)
	w.is("nobody looked", v1alpha1.PhasePending, false, "", v1alpha1.ReasonProgressing)
	w.sees("TemplateMissing", "it does not exist", nil)
	w.is("something is missing", v1alpha1.PhaseProvisioning, false, "", "TemplateMissing")
	w.sees("Provisioning", "Cluster north: words", w.there("False", "False", "False"))
	w.is("it is built", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	w.sees("Provisioning", "", w.there("True", "True", "False"))
	w.is("there is no endpoint", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	w.sees("KubeconfigMissing", "", w.there("True", "True", "True"))
	w.is("there is no kubeconfig", v1alpha1.PhaseProvisioned, false, "", "KubeconfigMissing")
	w.sees(clusterv1alpha1.ReasonReady, "", nil)
	w.is("it is ready", v1alpha1.PhaseProvisioned, true, "", "")
	w.sees(clusterv1alpha1.ReasonDegraded, "", w.there("True", "False", "True"))
	w.is("the control plane is lost", v1alpha1.PhaseDegraded, false, "", "Degraded")
	w.sees(clusterv1alpha1.ReasonReady, "", w.there("True", "True", "True"))
	w.is("it is back", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned Degraded Provisioned", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	if !w.out.Resources[Name].Ready {
		t.Error("the ManagedCluster does not count as ready")
	}
}

// TestDegradedWithoutKubeconfig says what was lost, and not what never was.
func TestDegradedWithoutKubeconfig(t *testing.T) {
	w := newWorld(t)
	w.sees("KubeconfigMissing", "Secret x: it does not exist", w.there("True", "True", "True"))
	w.sees("KubeconfigMissing", "Secret x: it does not exist", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.says(clusterv1alpha1.TypeControlPlaneReady, corev1.ConditionFalse, "NotReady", "Cluster north: 2 of 3 machines are lost")
	})
	w.is("it is lost", v1alpha1.PhaseDegraded, false, "", "KubeconfigMissing")
	if diff := cmp.Diff("ControlPlaneReady: NotReady: Cluster north: 2 of 3 machines are lost.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	w := ready(t)
	want := v1alpha1.WorkloadClusterStatus{
		Phase: v1alpha1.PhaseProvisioned, Message: "The cluster is ready.", ManagedCluster: "north",
		Cluster: &v1alpha1.ObservedCluster{Name: "north", UID: "u1"}, Version: "v1.34.2",
		Endpoint:    &clusterv1alpha1.Endpoint{Host: "north.example.org", Port: 6443},
		Kubeconfig:  &v1alpha1.Kubeconfig{SecretRef: v1alpha1.SecretReference{Name: "north-kubeconfig", Key: "value"}, Digest: "sha256:x"},
		Provisioned: &clusterv1alpha1.Latch{UID: "u1", At: now}, SiteName: "team-a.north",
	}
	got := w.out.Status.DeepCopy()
	if !strings.HasPrefix(got.SpecDigest, "sha256:") {
		t.Errorf("digest %q", got.SpecDigest)
	}
	got.SpecDigest, got.Transitions = "", nil
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}
	if c := w.condition(v1alpha1.TypeSitePublished); c.Status != corev1.ConditionTrue {
		t.Errorf("SitePublished: %+v", c)
	}
	// An API server makes null of an object that loses all of its fields, and then refuses the whole status.
	if diff := cmp.Diff(`{"phase":"Failed"}`, w.json(v1alpha1.WorkloadClusterStatus{Phase: v1alpha1.PhaseFailed})); diff != "" {
		t.Errorf("json.Marshal(...): -want, +got:\n%s", diff)
	}
}

func TestComposed(t *testing.T) {
	w := newWorld(t)
	s := w.mc.Spec
	got := []string{w.mc.GetNamespace(), w.mc.GetName(), s.ForProvider.Cluster.Name, w.json(s.ProviderConfigReference), w.json(s.ManagementPolicies), w.mc.GetLabels()[LabelWorkloadCluster]}
	if diff := cmp.Diff([]string{"team-a", "north", "north", `{"kind":"ClusterProviderConfig","name":"default"}`, `["*"]`, "north"}, got); diff != "" {
		t.Errorf("the ManagedCluster: -want, +got:\n%s", diff)
	}
	w.in.Spec.ClusterName, w.in.Spec.DeletionPolicy, w.in.Name, w.mc = "n1", v1alpha1.DeletionOrphan, "other", nil
	w.call()
	got = []string{w.mc.GetName(), w.mc.Spec.ForProvider.Cluster.Name, w.json(w.mc.Spec.ManagementPolicies)}
	if diff := cmp.Diff([]string{"other", "n1", `["Observe","Create","Update"]`}, got); diff != "" {
		t.Errorf("another ManagedCluster: -want, +got:\n%s", diff)
	}
}

func TestFailed(t *testing.T) {
	cases := map[string]struct {
		reason string
		says   xpv2.ConditionReason
	}{
		"Policy":         {reason: "A limit is for a person to change.", says: clusterv1alpha1.ReasonPolicyDenied},
		"Name":           {reason: "So is a name.", says: clusterv1alpha1.ReasonNameTaken},
		"Infrastructure": {reason: "A timeout is ours.", says: clusterv1alpha1.ReasonInfrastructureTimedOut},
		"ControlPlane":   {reason: "A timeout is ours.", says: clusterv1alpha1.ReasonControlPlaneTimedOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.sees("Provisioning", "", nil)
			w.sees(tc.says, "words", nil)
			w.is(tc.reason, v1alpha1.PhaseFailed, false, string(tc.says), "")
			w.in.Spec.Labels = map[string]clusterv1alpha1.LabelValue{"a": "b"}
			w.call()
			w.is("a new spec", v1alpha1.PhaseProvisioning, false, "", v1alpha1.ReasonProgressing)
			w.sees(tc.says, "words", nil)
			w.is("it fails again", v1alpha1.PhaseFailed, false, string(tc.says), "")
			w.sees(clusterv1alpha1.ReasonReady, "", w.there("True", "True", "True"))
			w.is("it succeeds late", v1alpha1.PhaseProvisioned, true, "", "")
			if diff := cmp.Diff("Pending Provisioning Failed Provisioning Failed Provisioned", w.way()); diff != "" {
				t.Errorf("transitions: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestInvalidSpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   string
	}{
		"Name":      {reason: "A claim may have a name that no Cluster has.", change: func(in *Input) { in.Name = "1st.cluster" }, want: "spec.clusterName: "},
		"Block":     {reason: "A type has its block.", change: func(in *Input) { in.Spec.Topology = nil }, want: "spec.topology: "},
		"OtherType": {reason: "And no other.", change: func(in *Input) { in.Spec.CAPT = &clusterv1alpha1.CAPT{} }, want: "spec.capt: "},
		"NoType":    {reason: "There are three.", change: func(in *Input) { in.Spec.Type, in.Spec.Topology = "Magic", nil }, want: "spec.type: "},
		"Version":   {reason: "What is made has one.", change: func(in *Input) { in.Spec.Version = "" }, want: "spec.version: "},
		"Reserved": {reason: "Nobody pauses a Cluster by its annotations.", change: func(in *Input) {
			in.Spec.Annotations = map[string]clusterv1alpha1.AnnotationValue{"cluster.x-k8s.io/paused": ""}
		}, want: "spec.annotations[cluster.x-k8s.io/paused]: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{T: t, in: Input{Namespace: "team-a", Name: "north", Spec: topology(), Now: now}}
			tc.change(&w.in)
			w.call()
			w.is(tc.reason, v1alpha1.PhaseFailed, false, v1alpha1.ReasonInvalidSpec, "")
			if c := w.condition(v1alpha1.TypeValid); c.Status != corev1.ConditionFalse || !strings.HasPrefix(c.Message, tc.want) || len(w.out.Resources) > 0 {
				t.Errorf("\n%s\nRun(...): %+v, resources %v", tc.reason, c, w.out.Resources)
			}
		})
	}
}

// TestBadInputLosesNothing edits the spec of a cluster that runs.
func TestBadInputLosesNothing(t *testing.T) {
	cases := map[string]func(*v1alpha1.WorkloadClusterSpec){
		"Version":     func(s *v1alpha1.WorkloadClusterSpec) { s.Version = "" },
		"ClusterName": func(s *v1alpha1.WorkloadClusterSpec) { s.ClusterName = "other" },
		"Type":        func(s *v1alpha1.WorkloadClusterSpec) { s.Type, s.Topology = clusterv1alpha1.TypeExisting, nil },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := ready(t)
			before := w.out.Status.Transitions
			change(&w.in.Spec)
			w.call()
			w.is("the cluster runs", v1alpha1.PhaseProvisioned, false, v1alpha1.ReasonInvalidSpec, "")
			spec, _, err := unstructured.NestedFieldCopy(w.out.Resources[Name].Object.Object, "spec")
			if err != nil {
				t.Fatal(err)
			}
			want := `{"forProvider":{"cluster":{"name":"north"},"type":"Topology","version":"v1.34.2"},"managementPolicies":["*"],"providerConfigRef":{"kind":"ClusterProviderConfig","name":"default"}}`
			if diff := cmp.Diff(want, w.json(spec)); diff != "" {
				t.Errorf("what is asked for: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(before, w.out.Status.Transitions); diff != "" {
				t.Errorf("transitions: -before, +after:\n%s", diff)
			}
			w.in.Spec = topology()
			w.call()
			w.is("it is mended", v1alpha1.PhaseProvisioned, true, "", "")
		})
	}
}

func TestUpgrade(t *testing.T) {
	w := ready(t)
	w.in.Spec.Version = "v1.35.0"
	w.call()
	w.is("it is on its way", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonProgressing)
	w.sees(clusterv1alpha1.ReasonReady, "", nil)
	w.is("the old version runs", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonUpgrading)
	w.sees(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) { s.AtProvider.Version = "v1.35.0" })
	w.is("the new version runs", v1alpha1.PhaseProvisioned, true, "", "")
	w.in.Spec.Version = "v1.36.0"
	w.call()
	w.sees(clusterv1alpha1.ReasonChangeIgnored, "words", nil)
	w.is("nobody carries it out", v1alpha1.PhaseProvisioned, false, "ChangeIgnoredByProvider", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestShapesOfOneName want one ManagedCluster: the first one keeps it.
func TestShapesOfOneName(t *testing.T) {
	const need = "managedcluster/team-a/north"
	owned := func(more string) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"metadata": {"name": "north", "namespace": "team-a"` + more + `}}`)}
	}
	const theirs = `, "ownerReferences": [{"apiVersion": "a/v1", "kind": "K", "name": "n", "uid": "theirs", "controller": true}]`
	cases := map[string]struct {
		reason  string
		answers catalog.Answers
		asked   bool
		phase   v1alpha1.Phase
		stalled string
		message string
	}{
		"Unanswered": {reason: "Crossplane calls again with the answer.", asked: true, phase: v1alpha1.PhasePending, message: "The ManagedCluster was not looked at yet."},
		"None":       {reason: "The name is free.", answers: catalog.Answers{need: {}}, asked: true, phase: v1alpha1.PhasePending, message: "The ManagedCluster was not looked at yet."},
		"Ours":       {reason: "It is ours, though it is not observed yet.", answers: catalog.Answers{need: owned(strings.ReplaceAll(theirs, "theirs", "ours"))}, asked: true, phase: v1alpha1.PhasePending, message: "The ManagedCluster was not looked at yet."},
		"Nobodys":    {reason: "Crossplane takes it over.", answers: catalog.Answers{need: owned("")}, asked: true, phase: v1alpha1.PhasePending, message: "The ManagedCluster was not looked at yet."},
		"Theirs": {
			reason: "The first one keeps it.", answers: catalog.Answers{need: owned(theirs)}, phase: v1alpha1.PhaseFailed, stalled: "NameTaken",
			message: "ManagedCluster north belongs to another WorkloadCluster: a claim and a namespaced composite cannot have one name in one namespace.",
		},
		"Going": {
			reason: "It will be gone.", answers: catalog.Answers{need: owned(theirs + `, "deletionTimestamp": "2026-11-01T12:00:00Z"`)}, phase: v1alpha1.PhasePending,
			message: "ManagedCluster north of another WorkloadCluster has to be gone first: it is being deleted.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Namespace: "team-a", Name: "north", UID: "ours", Spec: topology(), Now: now, Answers: tc.answers}
			out, err := Run(in)
			if err != nil {
				t.Fatal(err)
			}
			w := &world{T: t, in: in, out: out}
			doing := v1alpha1.ReasonProgressing
			if tc.stalled != "" {
				doing = ""
			}
			w.is(tc.reason, tc.phase, false, tc.stalled, doing)
			_, asked := out.Resources[Name]
			want := []catalog.Need{{Name: need, APIVersion: "cluster.intentplane.dev/v1alpha1", Kind: "ManagedCluster", MatchName: "north", Namespace: "team-a"}}
			if diff := cmp.Diff(want, out.Needs); diff != "" || asked != tc.asked || out.Status.Message != tc.message {
				t.Errorf("\n%s\nasked %t, message %q, needs: -want, +got:\n%s", tc.reason, asked, out.Status.Message, diff)
			}
			if c := w.condition(v1alpha1.TypeValid); (c.Reason == "NameTaken") != (tc.stalled != "") {
				t.Errorf("\n%s\nValid: %+v", tc.reason, c)
			}
		})
	}
	if w := ready(t); len(w.out.Needs) > 0 {
		t.Errorf("one that has its own looks for another: %v", w.out.Needs)
	}
}

// TestRebase moves a cluster to another ClusterClass, and half way back.
func TestRebase(t *testing.T) {
	w := ready(t)
	tells := func(topology clusterv1alpha1.ObservedTopology) {
		w.sees(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) { s.AtProvider.Topology = &topology })
	}
	tells(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.is("it is made of its class", v1alpha1.PhaseProvisioned, true, "", "")
	w.in.Spec.Topology.ClassRef.Name = "large"
	w.call()
	w.is("it is on its way", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonProgressing)
	tells(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.is("the Cluster does not name it yet", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	tells(clusterv1alpha1.ObservedTopology{Class: "standard", Rebasing: true, Reason: "ReconcileFailed", Message: "no such template"})
	w.is("Cluster API cannot do it", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	const want = "ClusterClass large is asked for, and Cluster API is not done with it: ReconcileFailed: no such template."
	if diff := cmp.Diff([]string{want, want}, []string{w.out.Status.Message, w.condition(v1alpha1.TypeReconciling).Message}); diff != "" {
		t.Errorf("messages: -want, +got:\n%s", diff)
	}
	w.in.Spec.Topology.ClassRef.Name = "standard"
	w.call()
	tells(clusterv1alpha1.ObservedTopology{Class: "standard", Rebasing: true})
	w.is("the way back is one too", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonRebasing)
	tells(clusterv1alpha1.ObservedTopology{Class: "standard"})
	w.is("it is done", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestRollingOut replaces a control plane, which is not available for a moment.
func TestRollingOut(t *testing.T) {
	w := ready(t)
	says := func(s corev1.ConditionStatus, reason xpv2.ConditionReason, kubeconfig corev1.ConditionStatus) {
		w.sees(clusterv1alpha1.ReasonReady, "", func(*clusterv1alpha1.ManagedClusterStatus) {
			w.says(clusterv1alpha1.TypeControlPlaneReady, s, reason, "etcd is not well")
			w.says(clusterv1alpha1.TypeKubeconfigReady, kubeconfig, "R", "")
		})
	}
	says("False", clusterv1alpha1.ReasonRollingOut, "True")
	w.is("it is replaced", v1alpha1.PhaseProvisioned, false, "", "RollingOut")
	if diff := cmp.Diff("Machines of the control plane are replaced: etcd is not well.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
	says("True", "Available", "True")
	w.is("it is done", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	says("False", clusterv1alpha1.ReasonRollingOut, "False")
	w.is("its API server does not answer", v1alpha1.PhaseDegraded, false, "", v1alpha1.ReasonProgressing)
	says("False", "NotReady", "True")
	w.is("nobody asked for it", v1alpha1.PhaseDegraded, false, "", v1alpha1.ReasonProgressing)
}

func TestUpgrading(t *testing.T) {
	cases := map[string]struct {
		reason      string
		asked, runs string
		want        bool
	}{
		"Same":      {reason: "It runs.", asked: "v1.34.2", runs: "v1.34.2"},
		"Build":     {reason: "Clouds add a suffix.", asked: "v1.34.2", runs: "v1.34.2-eks-1a2b"},
		"Minor":     {reason: "A minor version has patches.", asked: "1.34", runs: "v1.34.2-eks-1a2b"},
		"Other":     {reason: "It is another one.", asked: "v1.35.0", runs: "v1.34.2", want: true},
		"Longer":    {reason: "A number does not begin with another one.", asked: "v1.3", runs: "v1.34.2", want: true},
		"LongPatch": {reason: "A patch neither.", asked: "v1.34.1", runs: "v1.34.12", want: true},
		"Unknown":   {reason: "What nobody tells is not waited for.", asked: "v1.34.2"},
		"NotAsked":  {reason: "Any will do.", runs: "v1.34.2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &facts{Observed: &clusterv1alpha1.ManagedCluster{}}
			f.Spec.Version, f.Observed.Status.AtProvider.Version = tc.asked, tc.runs
			if diff := cmp.Diff(tc.want, f.upgrading()); diff != "" {
				t.Errorf("\n%s\nupgrading(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGone deletes the Cluster while its WorkloadCluster stays, and makes another one.
func TestGone(t *testing.T) {
	w := ready(t)
	w.sees(clusterv1alpha1.ReasonDeleting, "", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.says(clusterv1alpha1.TypeDeleting, corev1.ConditionTrue, "WaitingForWorkersDeletion", "2 machines")
	})
	w.is("it goes", v1alpha1.PhaseDeleting, false, "", "Deleting")
	if diff := cmp.Diff("The Cluster is being deleted: WaitingForWorkersDeletion: 2 machines.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
	w.sees("ObjectMissing", "", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.says(clusterv1alpha1.TypeDeleting, corev1.ConditionFalse, "ObjectMissing", "")
	})
	w.is("it is gone", v1alpha1.PhaseDeleting, false, v1alpha1.ReasonClusterGone, "")
	w.sees("Provisioning", "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		w.there("False", "False", "False")(s)
		s.AtProvider.UID, s.AtProvider.Provisioned = "u2", nil
	})
	w.is("another one", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	if diff := cmp.Diff("Pending Provisioning Provisioned Deleting Pending Provisioning", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestAnotherCluster is made between two looks: it is a new one, though nobody saw the old one go.
func TestAnotherCluster(t *testing.T) {
	w := ready(t)
	w.sees(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		s.AtProvider.UID, s.AtProvider.Provisioned = "u2", &clusterv1alpha1.Latch{UID: "u2", At: now}
	})
	if diff := cmp.Diff("Pending Provisioning Provisioned Pending Provisioning Provisioned", w.way()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestErrorOfProvider is a ManagedCluster that cannot be carried out.
func TestErrorOfProvider(t *testing.T) {
	w := ready(t)
	w.says(xpv2.TypeSynced, corev1.ConditionFalse, "ReconcileError", "cannot apply Cluster: admission webhook denied it")
	w.call()
	w.is("it says why", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonNotSynced)
	if !strings.Contains(w.condition(v1alpha1.TypeReconciling).Message, "admission webhook denied it") {
		t.Errorf("conditions: %+v", w.out.Conditions)
	}
}

// TestSteady asks for the same thing again, byte by byte.
func TestSteady(t *testing.T) {
	w := ready(t)
	before := w.json(w.out.Status) + w.json(w.out.Resources) + w.json(w.out.Conditions)
	w.in.Now = metav1.NewTime(now.Add(1e12))
	w.call()
	if diff := cmp.Diff(before, w.json(w.out.Status)+w.json(w.out.Resources)+w.json(w.out.Conditions)); diff != "" {
		t.Errorf("Run(...): -before, +after:\n%s", diff)
	}
}
