package workloadcluster

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/projection"
)

func TestCreation(t *testing.T) {
	w := newWorld(t)
	w.checkState("before the first observation", v1alpha1.PhasePending, false, "", v1alpha1.ReasonProgressing)
	w.reportReady("TemplateMissing", "it does not exist", nil)
	w.checkState("something is missing", v1alpha1.PhaseProvisioning, false, "", "TemplateMissing")
	w.reportReady("Provisioning", "Cluster north: words", w.withReadiness("False", "False", "False"))
	w.checkState("it is built", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	w.reportReady("Provisioning", "", w.withReadiness("True", "True", "False"))
	w.checkState("there is no endpoint", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	w.reportReady("KubeconfigMissing", "", w.withReadiness("True", "True", "True"))
	w.checkState("there is no kubeconfig", v1alpha1.PhaseProvisioned, false, "", "KubeconfigMissing")
	w.reportReady(clusterv1alpha1.ReasonReady, "", nil)
	w.checkState("it is ready", v1alpha1.PhaseProvisioned, true, "", "")
	w.reportReady(clusterv1alpha1.ReasonDegraded, "", w.withReadiness("True", "False", "True"))
	w.checkState("the control plane is lost", v1alpha1.PhaseDegraded, false, "", "Degraded")
	w.reportReady(clusterv1alpha1.ReasonReady, "", w.withReadiness("True", "True", "True"))
	w.checkState("the control plane recovered", v1alpha1.PhaseProvisioned, true, "", "")
	if diff := cmp.Diff("Pending Provisioning Provisioned Degraded Provisioned", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	if !w.out.Resources[Name].Ready {
		t.Error("the ManagedCluster does not count as ready")
	}
}

// TestDegradedWithoutKubeconfig checks that the message names the lost part, and not the kubeconfig that never existed.
func TestDegradedWithoutKubeconfig(t *testing.T) {
	w := newWorld(t)
	w.reportReady("KubeconfigMissing", "Secret x: it does not exist", w.withReadiness("True", "True", "True"))
	w.reportReady("KubeconfigMissing", "Secret x: it does not exist", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.setCondition(clusterv1alpha1.TypeControlPlaneReady, corev1.ConditionFalse, "NotReady", "Cluster north: 2 of 3 machines are lost")
	})
	w.checkState("it is lost", v1alpha1.PhaseDegraded, false, "", "KubeconfigMissing")
	if diff := cmp.Diff("ControlPlaneReady: NotReady: Cluster north: 2 of 3 machines are lost.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
}

func TestClusterStatus(t *testing.T) {
	w := newReadyWorld(t)
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

func TestRefusalAndTimeoutFail(t *testing.T) {
	cases := map[string]struct {
		reason string
		says   xpv2.ConditionReason
	}{
		"Policy":         {reason: "A spec that a limit forbids fails until a user changes it.", says: clusterv1alpha1.ReasonPolicyDenied},
		"Name":           {reason: "A name that another cluster has fails until a user changes it.", says: clusterv1alpha1.ReasonNameTaken},
		"Infrastructure": {reason: "Infrastructure that exceeds its timeout fails the cluster.", says: clusterv1alpha1.ReasonInfrastructureTimedOut},
		"ControlPlane":   {reason: "A control plane that exceeds its timeout fails the cluster.", says: clusterv1alpha1.ReasonControlPlaneTimedOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reportReady("Provisioning", "", nil)
			w.reportReady(tc.says, "words", nil)
			w.checkState(tc.reason, v1alpha1.PhaseFailed, false, string(tc.says), "")
			w.in.Spec.Labels = map[string]clusterv1alpha1.LabelValue{"a": "b"}
			w.runFunction()
			w.checkState("a new spec", v1alpha1.PhaseProvisioning, false, "", v1alpha1.ReasonProgressing)
			w.reportReady(tc.says, "words", nil)
			w.checkState("it fails again", v1alpha1.PhaseFailed, false, string(tc.says), "")
			w.reportReady(clusterv1alpha1.ReasonReady, "", w.withReadiness("True", "True", "True"))
			w.checkState("it succeeds late", v1alpha1.PhaseProvisioned, true, "", "")
			if diff := cmp.Diff("Pending Provisioning Failed Provisioning Failed Provisioned", w.phasePath()); diff != "" {
				t.Errorf("transitions: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestClusterDeletedAndRecreated deletes the Cluster while its WorkloadCluster exists, and makes another one.
func TestClusterDeletedAndRecreated(t *testing.T) {
	w := newReadyWorld(t)
	w.reportReady(clusterv1alpha1.ReasonDeleting, "", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.setCondition(clusterv1alpha1.TypeDeleting, corev1.ConditionTrue, "WaitingForWorkersDeletion", "2 machines")
	})
	w.checkState("it goes", v1alpha1.PhaseDeleting, false, "", "Deleting")
	if diff := cmp.Diff("The Cluster is being deleted: WaitingForWorkersDeletion: 2 machines.", w.out.Status.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
	w.reportReady("ObjectMissing", "", func(*clusterv1alpha1.ManagedClusterStatus) {
		w.setCondition(clusterv1alpha1.TypeDeleting, corev1.ConditionFalse, "ObjectMissing", "")
	})
	w.checkState("it is gone", v1alpha1.PhaseDeleting, false, v1alpha1.ReasonClusterGone, "")
	w.reportReady("Provisioning", "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		w.withReadiness("False", "False", "False")(s)
		s.AtProvider.UID, s.AtProvider.Provisioned = "u2", nil
	})
	w.checkState("another one", v1alpha1.PhaseProvisioning, false, "", "Provisioning")
	if diff := cmp.Diff("Pending Provisioning Provisioned Deleting Pending Provisioning", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestClusterReplacedBetweenObservations replaces the Cluster between two observations: the phase starts again, though the deletion was not
// observed.
func TestClusterReplacedBetweenObservations(t *testing.T) {
	w := newReadyWorld(t)
	w.reportReady(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		s.AtProvider.UID, s.AtProvider.Provisioned = "u2", &clusterv1alpha1.Latch{UID: "u2", At: now}
	})
	if diff := cmp.Diff("Pending Provisioning Provisioned Pending Provisioning Provisioned", w.phasePath()); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestManagedClusterNotSynced has a ManagedCluster that the provider cannot apply.
func TestManagedClusterNotSynced(t *testing.T) {
	w := newReadyWorld(t)
	w.setCondition(xpv2.TypeSynced, corev1.ConditionFalse, "ReconcileError", "cannot apply Cluster: admission webhook denied it")
	w.runFunction()
	w.checkState("it says why", v1alpha1.PhaseProvisioned, false, "", v1alpha1.ReasonNotSynced)
	if !strings.Contains(w.condition(v1alpha1.TypeReconciling).Message, "admission webhook denied it") {
		t.Errorf("conditions: %+v", w.out.Conditions)
	}
}

// TestRepeatedCallGivesSameOutput checks that a call with the same input at another time gives the same bytes.
func TestRepeatedCallGivesSameOutput(t *testing.T) {
	w := newReadyWorld(t)
	previous := w.json(w.out.Status) + w.json(w.out.Resources) + w.json(w.out.Conditions)
	w.in.Now = metav1.NewTime(now.Add(1e12))
	w.runFunction()
	if diff := cmp.Diff(previous, w.json(w.out.Status)+w.json(w.out.Resources)+w.json(w.out.Conditions)); diff != "" {
		t.Errorf("Run(...): -before, +after:\n%s", diff)
	}
}

// A world has one WorkloadCluster. The test plays Crossplane and the provider.
type world struct {
	*testing.T

	in  Input
	out *Output
	mc  *clusterv1alpha1.ManagedCluster
}

func topologySpec() v1alpha1.WorkloadClusterSpec {
	return v1alpha1.WorkloadClusterSpec{ClusterDescription: clusterv1alpha1.ClusterDescription{
		Type: clusterv1alpha1.TypeTopology, Version: "v1.34.2",
		Topology: &clusterv1alpha1.Topology{
			ClassRef:  clusterv1alpha1.ClassReference{Name: "standard"},
			Variables: []clusterv1alpha1.TopologyVariable{{Name: "zones", Value: apiextensionsv1.JSON{Raw: []byte(`{"count": 3, "primary": "a"}`)}}},
		},
		Site: clusterv1alpha1.PublishedSite{Publish: true},
	}}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, in: Input{Namespace: "team-a", Name: "north", Spec: topologySpec(), Now: now}}
	w.runFunction()
	return w
}

// runFunction calls the function as often as Crossplane would, and applies the desired resources.
func (w *world) runFunction() {
	w.Helper()
	for range 2 {
		w.in.Observed = map[string]*unstructured.Unstructured{}
		if w.mc != nil {
			w.in.Observed[Name] = w.observed()
		}
		out, err := Run(w.in)
		if err != nil {
			w.Fatal(err)
		}
		w.out = out
		w.in.Status = *out.Status
		w.applyResources(out.Resources)
	}
}

// observed is the ManagedCluster, with the fields that Crossplane applied.
func (w *world) observed() *unstructured.Unstructured {
	w.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.mc)
	if err != nil {
		w.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/x", Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: clusterv1alpha1.GroupVersion.String(), FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{
			Raw: []byte(
				`{"f:spec":{"f:providerConfigRef":{"f:name":{},"f:kind":{}},"f:managementPolicies":{},"f:forProvider":{"f:type":{},"f:version":{},"f:cluster":{"f:name":{}}}}}`,
			),
		},
	}})
	return u
}

func (w *world) applyResources(resources map[string]desired.Resource) {
	w.Helper()
	r, ok := resources[Name]
	if !ok || w.out.Status.Message != "" && strings.HasPrefix(w.out.Status.Message, "spec.") {
		return
	}
	next := &clusterv1alpha1.ManagedCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Object.Object, next); err != nil {
		w.Fatal(err)
	}
	next.Generation = 1
	if w.mc != nil {
		next.Status, next.Generation = w.mc.Status, w.mc.Generation
		if a, b := w.json(w.mc.Spec), w.json(next.Spec); a != b {
			next.Generation++
		}
	}
	w.mc = next
}

func (w *world) json(v any) string {
	w.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// reportReady writes the status that the provider would write after an observation.
func (w *world) reportReady(reason xpv2.ConditionReason, message string, fn func(*clusterv1alpha1.ManagedClusterStatus)) {
	w.Helper()
	observedStatus := &w.mc.Status
	if fn != nil {
		fn(observedStatus)
	}
	status := corev1.ConditionFalse
	if reason == clusterv1alpha1.ReasonReady {
		status = corev1.ConditionTrue
	}
	w.setCondition(xpv2.TypeReady, status, reason, message)
	w.setCondition(xpv2.TypeSynced, corev1.ConditionTrue, "ReconcileSuccess", "")
	w.runFunction()
}

func (w *world) setCondition(conditionType xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason, message string) {
	w.mc.Status.SetConditions(xpv2.Condition{Type: conditionType, Status: s, Reason: reason, Message: message}.WithObservedGeneration(w.mc.Generation))
}

// withReadiness sets the three conditions that make a cluster provisioned.
func (w *world) withReadiness(infrastructure, controlPlane, endpoint corev1.ConditionStatus) func(*clusterv1alpha1.ManagedClusterStatus) {
	return func(s *clusterv1alpha1.ManagedClusterStatus) {
		s.AtProvider.UID = "u1"
		w.setCondition(clusterv1alpha1.TypeInfrastructureReady, infrastructure, "R", "")
		w.setCondition(clusterv1alpha1.TypeControlPlaneReady, controlPlane, "R", "")
		w.setCondition(clusterv1alpha1.TypeEndpointKnown, endpoint, "R", "")
		w.setCondition(clusterv1alpha1.TypeDeleting, corev1.ConditionFalse, "NotDeleting", "")
		if infrastructure == "True" && controlPlane == "True" && endpoint == "True" {
			s.AtProvider.Provisioned = &clusterv1alpha1.Latch{UID: "u1", At: now}
		}
	}
}

func (w *world) condition(conditionType string) projection.Condition {
	i := slices.IndexFunc(w.out.Conditions, func(c projection.Condition) bool { return c.Type == conditionType })
	return w.out.Conditions[i]
}

// checkState compares phase, Ready, and the reasons of Stalled and Reconciling, which are empty where these are not true.
func (w *world) checkState(description string, phase v1alpha1.Phase, ready bool, stalled, reconciling string) {
	w.Helper()
	reasonOf := func(conditionType string) string {
		if c := w.condition(conditionType); c.Status == corev1.ConditionTrue {
			return c.Reason
		}
		return ""
	}
	got := []any{w.out.Status.Phase, w.out.Ready, reasonOf(v1alpha1.TypeStalled), reasonOf(v1alpha1.TypeReconciling)}
	if diff := cmp.Diff([]any{phase, ready, stalled, reconciling}, got); diff != "" {
		w.Errorf("%s: -want, +got:\n%s\nmessage %q", description, diff, w.out.Status.Message)
	}
}

func (w *world) phasePath() string {
	var out []string
	for _, t := range w.out.Status.Transitions {
		out = append(out, string(t.To))
	}
	return strings.Join(out, " ")
}

// newReadyWorld returns a world whose cluster is ready.
func newReadyWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.reportReady(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		w.withReadiness("True", "True", "True")(s)
		s.AtProvider.Version, s.AtProvider.SiteName = "v1.34.2", "team-a.north"
		s.AtProvider.Endpoint = &clusterv1alpha1.Endpoint{Host: "north.example.org", Port: 6443}
		s.AtProvider.Kubeconfig = &clusterv1alpha1.Kubeconfig{SecretRef: clusterv1alpha1.SecretReference{Name: "north-kubeconfig", Key: "value"}, Digest: "sha256:x"}
	})
	return w
}
