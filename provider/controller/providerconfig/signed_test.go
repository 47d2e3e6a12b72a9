package providerconfig

import (
	"testing"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

func TestSignedCondition(t *testing.T) {
	key := &configv1alpha1.Signing{Format: "SSH"}
	cases := map[string]struct {
		reason  string
		signing *configv1alpha1.Signing
		want    xpv2.ConditionReason
	}{
		"Unsigned": {reason: "Without a signing key the condition warns that the state can be forged.", want: configv1alpha1.ReasonStateUnsigned},
		"Signed":   {reason: "With a signing key the condition reports that the state is signed.", signing: key, want: configv1alpha1.ReasonSigned},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			config.Spec.Git.Signing = tc.signing
			kube := build(t, config)
			r := &Reconciler{kube: kube, kind: policy.KindClusterProviderConfig, newConfig: configKinds()[policy.KindClusterProviderConfig], recorder: xpevent.NewNopRecorder()}
			versions := []string{}
			for range 2 {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(config)}); err != nil {
					t.Fatal(err)
				}
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
					t.Fatal(err)
				}
				versions = append(versions, config.GetResourceVersion())
			}
			if diff := cmp.Diff(tc.want, config.Status.GetCondition(configv1alpha1.TypeStateSigned).Reason); diff != "" {
				t.Errorf("\n%s\nStateSigned: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(versions[0], versions[1]); diff != "" {
				t.Errorf("\n%s: an unchanged status is not written\nresource version: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
