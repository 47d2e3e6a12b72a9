package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/test/cacheclient"
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
			reason: "A Cluster of an administrator's fleet is guarded like a Cluster of a tenant, and has a share of its own.",
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

func TestListSitesOfSecret(t *testing.T) {
	named := func(name string, c catalogv1alpha1.SiteCluster) client.Object {
		return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: catalogv1alpha1.SiteSpec{Cluster: c}}
	}
	secretRef := func(namespace, name string) catalogv1alpha1.SiteCluster {
		return catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: namespace, Name: name}}
	}
	s := runtime.NewScheme()
	if err := catalogv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(
		named("none", catalogv1alpha1.SiteCluster{}),
		named("edge1", secretRef("admin", "edge1")),
		named("other-namespace", secretRef("team-a", "edge1")),
		named("built", catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{Namespace: "fleet", Name: "c1"}}),
	)}
	if err := listing.AddIndexes(t.Context(), b, SecretIndex()); err != nil {
		t.Fatal(err)
	}
	kube := &cacheclient.Counter{Client: b.Build()}
	cases := map[string]struct {
		reason string
		secret metav1.ObjectMeta
		want   []string
	}{
		"Named": {
			reason: "A Site that names the Secret is found, and no Site that names a Secret of another namespace.",
			secret: metav1.ObjectMeta{Namespace: "admin", Name: "edge1"}, want: []string{"edge1"},
		},
		"Built": {
			reason: "A Site of a Cluster is found by the Secret where Cluster API puts the kubeconfig.",
			secret: metav1.ObjectMeta{Namespace: "fleet", Name: "c1-kubeconfig"}, want: []string{"built"},
		},
		"Anything": {reason: "A Secret that holds no kubeconfig concerns no Site.", secret: metav1.ObjectMeta{Namespace: "admin", Name: "password"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube.Listed = 0
			sites, err := ListSitesOfSecret(t.Context(), kube, &corev1.Secret{ObjectMeta: tc.secret})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range sites {
				got = append(got, sites[i].Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || kube.Listed != len(got) {
				t.Errorf("\n%s No other Site is read.\nListSitesOfSecret(...): %d objects, -want, +got:\n%s", tc.reason, kube.Listed, diff)
			}
		})
	}
}
