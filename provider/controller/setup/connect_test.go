package setup

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
)

func TestConnectSite(t *testing.T) {
	cases := map[string]struct {
		reason  string
		cluster catalogv1alpha1.SiteCluster
		want    string
	}{
		"ControlPlane": {
			reason:  "A Site in the control plane needs no kubeconfig.",
			cluster: catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}},
		},
		"Missing": {reason: "A Secret that does not exist is the Site's problem.", cluster: kubeconfigOf("none", "value"), want: "KubeconfigGone"},
		"NoKey":   {reason: "A key that the Secret does not have is the Site's problem.", cluster: kubeconfigOf("bad", "other"), want: "KubeconfigGone"},
		"Refused": {reason: "A kubeconfig that is not valid is the Site's problem.", cluster: kubeconfigOf("bad", "value"), want: "KubeconfigRefused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := kubefake.NewClientBuilder().WithObjects(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "bad"}, Data: map[string][]byte{"value": []byte("{}")},
			}).Build()
			pool := clusters.NewPool(clusters.Dialer(&rest.Config{}, clusters.Limits{}), account.New(account.Bounds{}), func(types.NamespacedName) {})
			c, err := ConnectSite(t.Context(), kube, pool.Look(types.NamespacedName{Name: "a"}), &catalogv1alpha1.Site{Spec: catalogv1alpha1.SiteSpec{Cluster: tc.cluster}})
			got := ""
			var refused *clusters.Error
			if errors.As(err, &refused) {
				got = refused.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (c == nil) != (tc.want != "") {
				t.Errorf("\n%s\nConnectSite(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func kubeconfigOf(secret, key string) catalogv1alpha1.SiteCluster {
	return catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: secret, Key: key}}
}
