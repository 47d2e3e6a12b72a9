package sitesync

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestDeliveryWakes(t *testing.T) {
	cases := map[string]struct {
		reason          string
		namespace       string
		group, claimant string
		want            []reconcile.Request
	}{
		"SameClaim": {
			reason:    "The SiteSync of the claim waits for its delivery.",
			namespace: "team-a", group: "claims.intentplane.dev", claimant: "web", want: []reconcile.Request{{NamespacedName: key()}},
		},
		"OtherClaim": {
			reason:    "A SiteSync of another claim is not woken.",
			namespace: "team-a", group: "claims.intentplane.dev", claimant: "shop", want: []reconcile.Request{},
		},
		"OtherShape":     {reason: "A claim of the other shape is another claim.", namespace: "team-a", group: "intentplane.dev", claimant: "web", want: []reconcile.Request{}},
		"OtherNamespace": {reason: "A claim of the same name in another namespace wakes no SiteSync.", namespace: "team-b", group: "claims.intentplane.dev", claimant: "web", want: []reconcile.Request{}},
	}
	w := newWorld(t)
	w.askFor(1)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.SetNamespace(tc.namespace)
			d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: tc.group, Kind: "IntentDeployment", Namespace: tc.namespace, Name: tc.claimant}
			got := waker{kube: w.kube, log: logging.NewNopLogger()}.requestsForDelivery(t.Context(), d)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndelivery(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
