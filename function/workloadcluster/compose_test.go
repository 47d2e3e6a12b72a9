package workloadcluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

func TestComposeManagedCluster(t *testing.T) {
	w := newWorld(t)
	s := w.mc.Spec
	got := []string{w.mc.GetNamespace(), w.mc.GetName(), s.ForProvider.Cluster.Name, w.json(s.ProviderConfigReference), w.json(s.ManagementPolicies), w.mc.GetLabels()[LabelWorkloadCluster]}
	if diff := cmp.Diff([]string{"team-a", "north", "north", `{"kind":"ClusterProviderConfig","name":"default"}`, `["*"]`, "north"}, got); diff != "" {
		t.Errorf("the ManagedCluster: -want, +got:\n%s", diff)
	}
	w.in.Spec.ClusterName, w.in.Spec.DeletionPolicy, w.in.Name, w.mc = "n1", v1alpha1.DeletionOrphan, "other", nil
	w.runFunction()
	got = []string{w.mc.GetName(), w.mc.Spec.ForProvider.Cluster.Name, w.json(w.mc.Spec.ManagementPolicies)}
	if diff := cmp.Diff([]string{"other", "n1", `["Observe","Create","Update"]`}, got); diff != "" {
		t.Errorf("another ManagedCluster: -want, +got:\n%s", diff)
	}
}

func TestInvalidSpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   string
	}{
		"Name": {
			reason: "The name of a claim that cannot be the name of a Cluster is refused.",
			change: func(in *Input) { in.Name = "1st.cluster" }, want: "spec.clusterName: ",
		},
		"Block": {reason: "A type without its block of fields is refused.", change: func(in *Input) { in.Spec.Topology = nil }, want: "spec.topology: "},
		"OtherType": {
			reason: "The block of fields of another type is refused.",
			change: func(in *Input) { in.Spec.CAPT = &clusterv1alpha1.CAPT{} }, want: "spec.capt: ",
		},
		"NoType": {
			reason: "A type that is none of the three is refused.",
			change: func(in *Input) { in.Spec.Type, in.Spec.Topology = "Magic", nil }, want: "spec.type: ",
		},
		"Version": {reason: "A cluster that is to be created needs a version.", change: func(in *Input) { in.Spec.Version = "" }, want: "spec.version: "},
		"Reserved": {reason: "Users may not pause a Cluster by an annotation of Cluster API.", change: func(in *Input) {
			in.Spec.Annotations = map[string]clusterv1alpha1.AnnotationValue{"cluster.x-k8s.io/paused": ""}
		}, want: "spec.annotations[cluster.x-k8s.io/paused]: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{T: t, in: Input{Namespace: "team-a", Name: "north", Spec: topologySpec(), Now: now}}
			tc.change(&w.in)
			w.runFunction()
			w.checkState(tc.reason, v1alpha1.PhaseFailed, false, v1alpha1.ReasonInvalidSpec, "")
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
			w := newReadyWorld(t)
			previous := w.out.Status.Transitions
			change(&w.in.Spec)
			w.runFunction()
			w.checkState("the cluster runs", v1alpha1.PhaseProvisioned, false, v1alpha1.ReasonInvalidSpec, "")
			spec, _, err := unstructured.NestedFieldCopy(w.out.Resources[Name].Object.Object, "spec")
			if err != nil {
				t.Fatal(err)
			}
			want := `{"forProvider":{"cluster":{"name":"north"},"type":"Topology","version":"v1.34.2"},"managementPolicies":["*"],"providerConfigRef":{"kind":"ClusterProviderConfig","name":"default"}}`
			if diff := cmp.Diff(want, w.json(spec)); diff != "" {
				t.Errorf("desired resources: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(previous, w.out.Status.Transitions); diff != "" {
				t.Errorf("transitions: -before, +after:\n%s", diff)
			}
			w.in.Spec = topologySpec()
			w.runFunction()
			w.checkState("the spec is repaired", v1alpha1.PhaseProvisioned, true, "", "")
		})
	}
}
