package diagnosis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// unusedSite is a Site with a kubeconfig, and an engine that a hub has.
func unusedSite() Site {
	s := Site{TypeMeta: metav1.TypeMeta{Kind: "Site"}, Metadata: metav1.ObjectMeta{Name: "edge9"}}
	s.Spec.Cluster.KubeconfigSecretRef = &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "sites", Name: "edge9"}
	s.Spec.Engine = catalogv1alpha1.SiteEngine{Location: inControlPlane, ObjectRef: &catalogv1alpha1.ObjectReference{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "{site}"}}
	s.Spec.Repository.ProviderConfigRef = &catalogv1alpha1.ClusterConfigReference{Name: "fleet"}
	return s
}

func TestUnusedSites(t *testing.T) {
	used := func(f *Facts) {
		d := Delivery{}
		d.Spec.ForProvider.Trees = []SiteOfTree{{Site: "edge9"}}
		f.Deliveries.Items = append(f.Deliveries.Items, d)
	}
	usedLater := func(f *Facts) {
		d := Delivery{}
		d.Spec.ForProvider.Later = []SiteOfTree{{Site: "edge9"}}
		f.Deliveries.Items = append(f.Deliveries.Items, d)
	}
	cases := map[string]struct {
		reason string
		edit   func(*Facts)
		want   string
	}{
		"Complete": {reason: "A Site that no deployment uses is well if all that it names exists.", want: "ok | sites | Site edge9 | no deployment uses it, so its cluster and engine were not asked; the objects that it names exist | "},
		"Config": {
			reason: "A configuration that does not exist is found before a deployment uses the Site.", edit: func(f *Facts) { f.ClusterConfigs.Items = nil },
			want: "problem | sites | Site edge9 | ClusterProviderConfig fleet does not exist, which spec.repository.providerConfigRef names. No " +
				"deployment uses the Site yet. | Make ClusterProviderConfig fleet, or correct spec.repository.providerConfigRef of the Site.",
		},
		"Secret": {
			reason: "A kubeconfig that does not exist is found before a deployment uses the Site.",
			edit:   func(f *Facts) { s := unusedSite(); f.Needs[s.Needs()[0]] = NeedAnswer{} },
			want: "problem | sites | Site edge9 | Secret sites/edge9 with key value does not exist, which spec.cluster.kubeconfigSecretRef " +
				"names. No deployment uses the Site yet. | Make Secret sites/edge9, or correct spec.cluster.kubeconfigSecretRef of the Site.",
		},
		"Engine": {
			reason: "An object of the engine that does not exist is found before a deployment uses the Site.",
			edit:   func(f *Facts) { s := unusedSite(); f.Needs[s.Needs()[1]] = NeedAnswer{} },
			want: "problem | sites | Site edge9 | Application argocd/edge9 does not exist, which spec.engine.objectRef names. No deployment uses " +
				"the Site yet. | Make Application argocd/edge9, or correct spec.engine.objectRef of the Site.",
		},
		"Denied": {
			reason: "An object that the user may not read is unknown.",
			edit:   func(f *Facts) { s := unusedSite(); f.Needs[s.Needs()[0]] = NeedAnswer{Unread: unread("secrets")} },
			want: "unknown | sites | Site edge9 | no deployment uses it, so its cluster and engine were not asked; not read: Secret sites/edge9: " +
				"the user may not read them | ",
		},
		"Used": {
			reason: "A Site that a GitDelivery has a tree for is in use, although no SiteSync answers for it.",
			edit:   used, want: "unknown | sites | Site edge9 | no SiteSync says how its cluster and engine are | ",
		},
		"UsedLater": {
			reason: "A Site that a GitDelivery has a tree for in a later step is in use.",
			edit:   usedLater, want: "unknown | sites | Site edge9 | no SiteSync says how its cluster and engine are | ",
		},
		"Unknown": {
			reason: "Where GitDeliveries cannot be read, no Site is reported as unused.",
			edit:   func(f *Facts) { f.Deliveries.Unread = unread("gitdeliveries") },
			want:   "unknown | sites | Site edge9 | no SiteSync says how its cluster and engine are | ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := unusedSite()
			f := &Facts{Sites: Part[Site]{Items: []Site{s}}, ClusterConfigs: Part[cause.Object]{Items: []cause.Object{object(clusterConfig, "", "fleet")}}, Needs: map[Need]NeedAnswer{}}
			for _, n := range s.Needs() {
				f.Needs[n] = NeedAnswer{IsFound: true}
			}
			if tc.edit != nil {
				tc.edit(f)
			}
			if diff := cmp.Diff(tc.want, sayLine(siteLines(f)[0])); diff != "" {
				t.Errorf("\n%s\nsiteLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	s := unusedSite()
	s.Spec.Cluster = catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Namespace: "team-a", Name: "east"}}
	s.Spec.Engine.ObjectRef.Name = "{claimName}"
	want := []Need{
		{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Namespace: "team-a", Name: "east", Field: "spec.cluster.clusterRef"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "team-a", Name: "east-kubeconfig", Key: "value", Field: "spec.cluster.clusterRef"},
	}
	if diff := cmp.Diff(want, s.Needs()); diff != "" {
		t.Errorf("A Site of a Cluster needs that and its kubeconfig; an object that each deployment has for itself is not looked for: -want, +got:\n%s", diff)
	}
}
