package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestKubeconfigOf(t *testing.T) {
	clusterRef := catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{Namespace: "fleet", Name: "c1"}}
	secretRef := catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: "edge1"}}
	tenant := &catalogv1alpha1.SiteOwner{Kind: "ManagedCluster", Namespace: "team-a", Name: "c1"}
	cases := map[string]struct {
		reason string
		spec   catalogv1alpha1.SiteSpec
		secret string
		want   Access
	}{
		"Fleet": {
			reason: "A Cluster of an administrator's fleet is guarded as what a tenant wrote, and has a share of its own.",
			spec:   catalogv1alpha1.SiteSpec{Cluster: clusterRef}, secret: "fleet/c1-kubeconfig/value", want: Access{Origin: "fleet"},
		},
		"Published": {
			reason: "A Site that a tenant published is guarded, and uses the share of the tenant.",
			spec:   catalogv1alpha1.SiteSpec{Cluster: clusterRef, Owner: tenant}, secret: "fleet/c1-kubeconfig/value",
			want: Access{Origin: "fleet", Tenant: "team-a"},
		},
		"Secret": {
			reason: "A Secret that a Site names is an administrator's.",
			spec:   catalogv1alpha1.SiteSpec{Cluster: secretRef}, secret: "admin/edge1/value",
		},
		"None": {reason: "A Site may have no kubeconfig."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref, access := KubeconfigOf(&catalogv1alpha1.Site{Spec: tc.spec})
			got := ""
			if ref != nil {
				got = ref.Namespace + "/" + ref.Name + "/" + ref.Key
			}
			if diff := cmp.Diff(tc.secret, got); diff != "" {
				t.Errorf("%s\nKubeconfigOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, access); diff != "" {
				t.Errorf("%s\nKubeconfigOf(...): -want access, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
