package ledgerhome

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestUnreachableMessage names homes that do not report.
func TestUnreachableMessage(t *testing.T) {
	unreachable := &deliveryv1alpha1.GitDelivery{}
	unreachable.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: deliveryv1alpha1.ReasonUnreachable, Message: "Words."})
	cases := map[string]struct {
		reason string
		home   string
		is     *deliveryv1alpha1.GitDelivery
		want   string
	}{
		"Gone": {
			reason: "A home without a GitDelivery was not read.",
			home:   "default", want: "The ledger is in the repository of ClusterProviderConfig \"default\", which was not read yet.",
		},
		"Own": {
			reason: "A configuration of the namespace is named with its kind.", home: "ProviderConfig/team", is: unreachable,
			want: "The ledger is in the repository of ProviderConfig \"team\", which cannot be read or written: Unreachable: Words.",
		},
		"Silent": {reason: "A GitDelivery that did not report yet is waited for.", home: "default", is: &deliveryv1alpha1.GitDelivery{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, UnreachableMessage(tc.is, tc.home)); diff != "" {
				t.Errorf("\n%s\nUnreachableMessage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
