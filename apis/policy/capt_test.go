package policy

import (
	"testing"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

func TestCheckCAPT(t *testing.T) {
	region, vpc, tag := CheckRegion, CheckVPC, CheckTagKey
	cases := map[string]struct {
		reason string
		check  func(*configv1alpha1.ProviderConfigSpec, string) error
		policy configv1alpha1.CAPTPolicy
		value  string
		want   string
	}{
		"AnyRegion": {reason: "A configuration without regions allows every region.", check: region, value: "eu-west-1"},
		"Region": {
			reason: "A region that is listed is allowed.",
			check:  region, policy: configv1alpha1.CAPTPolicy{Regions: []string{"eu-west-1"}}, value: "eu-west-1",
		},
		"OtherRegion": {
			reason: "A region that is not listed is refused.",
			check:  region, policy: configv1alpha1.CAPTPolicy{Regions: []string{"eu-west-1"}}, value: "us-east-1",
			want: `"us-east-1" is not among the spec.policy.capt.regions of the ClusterProviderConfig`,
		},
		"NoVPC": {
			reason: "A configuration without VPCs allows no VPC.",
			check:  vpc, value: "vpc-1", want: `"vpc-1" is not among the spec.policy.capt.vpcIDs of the ClusterProviderConfig`,
		},
		"VPC": {reason: "A VPC that is listed is allowed.", check: vpc, policy: configv1alpha1.CAPTPolicy{VPCIDs: []string{"vpc-1"}}, value: "vpc-1"},
		"NoTag": {
			reason: "A configuration without tags allows no tag.",
			check:  tag, value: "team", want: `"team" is not among the spec.policy.capt.tagKeys of the ClusterProviderConfig`,
		},
		"Tag": {reason: "A tag that is listed is allowed.", check: tag, policy: configv1alpha1.CAPTPolicy{TagKeys: []string{"team"}}, value: "team"},
		"LongerTag": {
			reason: "A listed tag does not allow a longer tag with the same beginning.",
			check:  tag, policy: configv1alpha1.CAPTPolicy{TagKeys: []string{"team"}}, value: "team-role",
			want: `"team-role" is not among the spec.policy.capt.tagKeys of the ClusterProviderConfig`,
		},
		"TagPattern": {
			reason: "A pattern allows tags that begin with it.",
			check:  tag, policy: configv1alpha1.CAPTPolicy{TagKeys: []string{"team/*"}}, value: "team/name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.check(&configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{CAPT: tc.policy}}, tc.value); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("\n%s\n%q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
