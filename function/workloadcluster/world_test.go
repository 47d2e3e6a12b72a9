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
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/projection"
)

// A world has one WorkloadCluster. The test plays Crossplane and the provider.
type world struct {
	*testing.T

	in  Input
	out *Output
	mc  *clusterv1alpha1.ManagedCluster
}

func topology() v1alpha1.WorkloadClusterSpec {
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
	w := &world{T: t, in: Input{Namespace: "team-a", Name: "north", Spec: topology(), Now: now}}
	w.call()
	return w
}

// call the function as often as Crossplane would, and apply what it asks for.
func (w *world) call() {
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
		w.apply(out.Resources)
	}
}

// observed is the ManagedCluster, with what Crossplane applied of it.
func (w *world) observed() *unstructured.Unstructured {
	w.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.mc)
	if err != nil {
		w.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/x", Operation: metav1.ManagedFieldsOperationApply, APIVersion: clusterv1alpha1.GroupVersion.String(), FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:providerConfigRef":{"f:name":{},"f:kind":{}},"f:managementPolicies":{},"f:forProvider":{"f:type":{},"f:version":{},"f:cluster":{"f:name":{}}}}}`)},
	}})
	return u
}

func (w *world) apply(resources map[string]compose.Resource) {
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

// sees is what the provider writes after it looked.
func (w *world) sees(reason xpv2.ConditionReason, message string, fn func(*clusterv1alpha1.ManagedClusterStatus)) {
	w.Helper()
	at := &w.mc.Status
	if fn != nil {
		fn(at)
	}
	status := corev1.ConditionFalse
	if reason == clusterv1alpha1.ReasonReady {
		status = corev1.ConditionTrue
	}
	w.says(xpv2.TypeReady, status, reason, message)
	w.says(xpv2.TypeSynced, corev1.ConditionTrue, "ReconcileSuccess", "")
	w.call()
}

func (w *world) says(of xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason, message string) {
	w.mc.Status.SetConditions(xpv2.Condition{Type: of, Status: s, Reason: reason, Message: message}.WithObservedGeneration(w.mc.Generation))
}

// there says which of the three are.
func (w *world) there(infrastructure, controlPlane, endpoint corev1.ConditionStatus) func(*clusterv1alpha1.ManagedClusterStatus) {
	return func(s *clusterv1alpha1.ManagedClusterStatus) {
		s.AtProvider.UID = "u1"
		w.says(clusterv1alpha1.TypeInfrastructureReady, infrastructure, "R", "")
		w.says(clusterv1alpha1.TypeControlPlaneReady, controlPlane, "R", "")
		w.says(clusterv1alpha1.TypeEndpointKnown, endpoint, "R", "")
		w.says(clusterv1alpha1.TypeDeleting, corev1.ConditionFalse, "NotDeleting", "")
		if infrastructure == "True" && controlPlane == "True" && endpoint == "True" {
			s.AtProvider.Provisioned = &clusterv1alpha1.Latch{UID: "u1", At: now}
		}
	}
}

func (w *world) condition(of string) projection.Condition {
	i := slices.IndexFunc(w.out.Conditions, func(c projection.Condition) bool { return c.Type == of })
	return w.out.Conditions[i]
}

// is compares phase, Ready, and the reasons of Stalled and Reconciling, which are empty where they are not true.
func (w *world) is(what string, phase v1alpha1.Phase, ready bool, stalled, reconciling string) {
	w.Helper()
	why := func(of string) string {
		if c := w.condition(of); c.Status == corev1.ConditionTrue {
			return c.Reason
		}
		return ""
	}
	got := []any{w.out.Status.Phase, w.out.Ready, why(v1alpha1.TypeStalled), why(v1alpha1.TypeReconciling)}
	if diff := cmp.Diff([]any{phase, ready, stalled, reconciling}, got); diff != "" {
		w.Errorf("%s: -want, +got:\n%s\nmessage %q", what, diff, w.out.Status.Message)
	}
}

func (w *world) way() string {
	var out []string
	for _, t := range w.out.Status.Transitions {
		out = append(out, string(t.To))
	}
	return strings.Join(out, " ")
}

// ready has a cluster that is.
func ready(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.sees(clusterv1alpha1.ReasonReady, "", func(s *clusterv1alpha1.ManagedClusterStatus) {
		w.there("True", "True", "True")(s)
		s.AtProvider.Version, s.AtProvider.SiteName = "v1.34.2", "team-a.north"
		s.AtProvider.Endpoint = &clusterv1alpha1.Endpoint{Host: "north.example.org", Port: 6443}
		s.AtProvider.Kubeconfig = &clusterv1alpha1.Kubeconfig{SecretRef: clusterv1alpha1.SecretReference{Name: "north-kubeconfig", Key: "value"}, Digest: "sha256:x"}
	})
	return w
}
