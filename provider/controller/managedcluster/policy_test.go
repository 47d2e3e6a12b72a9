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

// TestDeniedAfterCreation observes a cluster whose spec violates a limit after it was built. Nothing is written, and nothing is reported
// that was not observed.
func TestDeniedAfterCreation(t *testing.T) {
	forbid := func(w *testEnv) {
		c := &configv1alpha1.ClusterProviderConfig{}
		w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
		c.Spec.Policy.WorkspaceTemplates = nil
		w.must(w.Update(t.Context(), c))
	}
	cases := map[string]struct {
		reason string
		change func(*testEnv)
		want   map[xpv2.ConditionType]string
	}{
		"Well": {reason: "A limit takes nothing from a cluster that runs.", change: forbid, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "True/Available", v1alpha1.TypeInfrastructureReady: "True/Provisioned",
			v1alpha1.TypeKubeconfigReady: "True/Answers", v1alpha1.TypeDeleting: "False/NotDeleting",
		}},
		"Lost": {reason: "A limit does not hide that the cluster is lost.", change: func(w *testEnv) {
			forbid(w)
			w.reconcileUntil("PolicyDenied")
			w.putYAML("CAPTControlPlane", "status: {ready: false}")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "False/NotReady", v1alpha1.TypeInfrastructureReady: "True/Provisioned",
			v1alpha1.TypeKubeconfigReady: "True/Answers", v1alpha1.TypeDeleting: "False/NotDeleting",
		}},
		"Gone": {reason: "A Cluster that is gone is reported as missing in spite of a limit.", change: func(w *testEnv) {
			forbid(w)
			w.removeSilently("Cluster")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "False/ObjectMissing", v1alpha1.TypeInfrastructureReady: "False/ObjectMissing",
			v1alpha1.TypeKubeconfigReady: "False/ObjectMissing", v1alpha1.TypeDeleting: "False/ObjectMissing",
		}},
		"Another": {reason: "Another Cluster of the same name is not reported as the lost Cluster.", change: func(w *testEnv) {
			forbid(w)
			w.removeSilently("Cluster")
			w.putYAML("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "Unknown/PolicyDenied", v1alpha1.TypeInfrastructureReady: "Unknown/PolicyDenied",
			v1alpha1.TypeKubeconfigReady: "Unknown/PolicyDenied", v1alpha1.TypeDeleting: "Unknown/PolicyDenied",
		}},
		"Elsewhere": {reason: "A Cluster of another namespace is not read.", change: func(w *testEnv) {
			w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Cluster.Namespace = "team-b" })
		}, want: map[xpv2.ConditionType]string{
			v1alpha1.TypeControlPlaneReady: "Unknown/PolicyDenied", v1alpha1.TypeInfrastructureReady: "Unknown/PolicyDenied",
			v1alpha1.TypeKubeconfigReady: "Unknown/PolicyDenied", v1alpha1.TypeDeleting: "Unknown/PolicyDenied",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newReadyCluster(t)
			previous := w.get().Status.AtProvider
			w.writes = nil
			tc.change(w)
			for range 3 {
				w.clock = w.clock.Add(progressInterval)
				w.reconcileUntil("PolicyDenied")
			}
			mc := w.get()
			got := map[xpv2.ConditionType]string{}
			for conditionType := range tc.want {
				c := mc.GetCondition(conditionType)
				got[conditionType] = string(c.Status) + "/" + string(c.Reason)
				if c.ObservedGeneration != mc.GetGeneration() {
					t.Errorf("\n%s\n%s speaks of generation %d, and is at %d", tc.reason, conditionType, c.ObservedGeneration, mc.GetGeneration())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(w.writes) > 0 {
				t.Errorf("\n%s\ndid %q, conditions: -want, +got:\n%s", tc.reason, w.writes, diff)
			}
			observation := mc.Status.AtProvider
			if diff := cmp.Diff([]any{previous.UID, previous.Provisioned, previous.Initialized}, []any{observation.UID, observation.Provisioned, observation.Initialized}); diff != "" || mc.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
				t.Errorf("\n%s\nrecorded objects: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeniedCAPT checks that nothing is built with the platform's cloud credentials that the configuration does not allow.
func TestDeniedCAPT(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy configv1alpha1.CAPTPolicy
		change func(*v1alpha1.CAPT)
		want   string
	}{
		"Nothing": {reason: "A cluster in any region, with a VPC of a template and without tags needs no policy."},
		"Region": {
			reason: "A region that is not listed is refused.", policy: configv1alpha1.CAPTPolicy{Regions: []string{"eu-central-1"}},
			want: `spec.forProvider.capt.region: "eu-west-1" is not among the spec.policy.capt.regions of the ClusterProviderConfig`,
		},
		"VPC": {
			reason: "An existing VPC is refused unless it is listed.", change: func(c *v1alpha1.CAPT) { c.VPC = v1alpha1.CAPTVPC{ExistingID: "vpc-1"} },
			want: `spec.forProvider.capt.vpc.existingID: "vpc-1" is not among the spec.policy.capt.vpcIDs of the ClusterProviderConfig`,
		},
		"Tags": {
			reason: "A tag is refused unless its key is listed.", policy: configv1alpha1.CAPTPolicy{TagKeys: []string{"team"}},
			change: func(c *v1alpha1.CAPT) {
				c.ControlPlane.Tags = map[string]v1alpha1.BoundedText{"team": "a", "role": "admin"}
			},
			want: `spec.forProvider.capt.controlPlane.tags: "role" is not among the spec.policy.capt.tagKeys of the ClusterProviderConfig`,
		},
		"Allowed": {
			reason: "A cluster with a listed region, VPC and tags is built.",
			policy: configv1alpha1.CAPTPolicy{Regions: []string{"eu-west-1"}, VPCIDs: []string{"vpc-1"}, TagKeys: []string{"team*"}},
			change: func(c *v1alpha1.CAPT) {
				c.VPC = v1alpha1.CAPTVPC{ExistingID: "vpc-1"}
				c.ControlPlane.Tags = map[string]v1alpha1.BoundedText{"team-name": "a"}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.CAPT = tc.policy
			w.must(w.Update(t.Context(), c))
			p := captParameters()
			if tc.change != nil {
				tc.change(p.CAPT)
			}
			w.create(p)
			if tc.want == "" {
				if w.reconcileOften(); len(w.writes) == 0 {
					t.Errorf("\n%s\nnothing is made: %+v", tc.reason, w.get().GetCondition(xpv2.TypeReady))
				}
				return
			}
			if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.writes) > 0 {
				t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.writes)
			}
		})
	}
}
