package managedcluster

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// TestDeniedCAPT builds nothing with the platform's cloud credentials that the configuration does not allow.
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
			reason: "A VPC that is there is refused unless it is listed.", change: func(c *v1alpha1.CAPT) { c.VPC = v1alpha1.CAPTVPC{ExistingID: "vpc-1"} },
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
			reason: "What is listed is built.", policy: configv1alpha1.CAPTPolicy{Regions: []string{"eu-west-1"}, VPCIDs: []string{"vpc-1"}, TagKeys: []string{"team*"}},
			change: func(c *v1alpha1.CAPT) {
				c.VPC = v1alpha1.CAPTVPC{ExistingID: "vpc-1"}
				c.ControlPlane.Tags = map[string]v1alpha1.BoundedText{"team-name": "a"}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.CAPT = tc.policy
			w.must(w.Update(t.Context(), c))
			p := captSpec()
			if tc.change != nil {
				tc.change(p.CAPT)
			}
			w.create(p)
			if tc.want == "" {
				if w.looks(); len(w.did) == 0 {
					t.Errorf("\n%s\nnothing is made: %+v", tc.reason, w.get().GetCondition(xpv2.TypeReady))
				}
				return
			}
			if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.did) > 0 {
				t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.did)
			}
		})
	}
}
