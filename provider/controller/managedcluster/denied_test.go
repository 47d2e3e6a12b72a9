package managedcluster

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// TestDeniedLater says what becomes of a cluster that may not be changed any more, writes nothing, and claims nothing that it did not look at.
func TestDeniedLater(t *testing.T) {
	forbid := func(w *world) {
		c := &configv1alpha1.ClusterProviderConfig{}
		w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
		c.Spec.Policy.WorkspaceTemplates = nil
		w.must(w.Update(t.Context(), c))
	}
	cases := map[string]struct {
		reason string
		change func(*world)
		want   map[xpv2.ConditionType]string
	}{
		"Well": {reason: "A limit takes nothing from a cluster that runs.", change: forbid, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "True/Available", v1alpha1.TypeInfrastructureReady: "True/Provisioned", v1alpha1.TypeKubeconfigReady: "True/Answers", v1alpha1.TypeDeleting: "False/NotDeleting",
		}},
		"Lost": {reason: "Nor does it hide what happens to it.", change: func(w *world) {
			forbid(w)
			w.until("PolicyDenied")
			w.yaml("CAPTControlPlane", "status: {ready: false}")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "False/NotReady", v1alpha1.TypeInfrastructureReady: "True/Provisioned", v1alpha1.TypeKubeconfigReady: "True/Answers", v1alpha1.TypeDeleting: "False/NotDeleting",
		}},
		"Gone": {reason: "It is known to be gone.", change: func(w *world) {
			forbid(w)
			w.vanish("Cluster")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "False/ObjectMissing", v1alpha1.TypeInfrastructureReady: "False/ObjectMissing", v1alpha1.TypeKubeconfigReady: "False/ObjectMissing", v1alpha1.TypeDeleting: "False/ObjectMissing",
		}},
		"Another": {reason: "One that took its name is none of ours.", change: func(w *world) {
			forbid(w)
			w.vanish("Cluster")
			w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "Unknown/PolicyDenied", v1alpha1.TypeInfrastructureReady: "Unknown/PolicyDenied", v1alpha1.TypeKubeconfigReady: "Unknown/PolicyDenied", v1alpha1.TypeDeleting: "Unknown/PolicyDenied",
		}},
		"Elsewhere": {reason: "In another namespace nobody looks.", change: func(w *world) {
			w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Cluster.Namespace = "team-b" })
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "Unknown/PolicyDenied", v1alpha1.TypeInfrastructureReady: "Unknown/PolicyDenied", v1alpha1.TypeKubeconfigReady: "Unknown/PolicyDenied", v1alpha1.TypeDeleting: "Unknown/PolicyDenied",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := settled(t)
			before := w.get().Status.AtProvider
			w.did = nil
			tc.change(w)
			for range 3 {
				w.clock = w.clock.Add(progressInterval)
				w.until("PolicyDenied")
			}
			mc := w.get()
			got := map[xpv2.ConditionType]string{}
			for of := range tc.want {
				c := mc.GetCondition(of)
				got[of] = string(c.Status) + "/" + string(c.Reason)
				if c.ObservedGeneration != mc.GetGeneration() {
					t.Errorf("\n%s\n%s speaks of generation %d, and is at %d", tc.reason, of, c.ObservedGeneration, mc.GetGeneration())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(w.did) > 0 {
				t.Errorf("\n%s\ndid %q, conditions: -want, +got:\n%s", tc.reason, w.did, diff)
			}
			at := mc.Status.AtProvider
			if diff := cmp.Diff([]any{before.UID, before.Provisioned, before.Initialized}, []any{at.UID, at.Provisioned, at.Initialized}); diff != "" || mc.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
				t.Errorf("\n%s\nwhat is remembered: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
