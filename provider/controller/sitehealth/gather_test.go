package sitehealth

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestUnreachable keeps the last observation for a moment while a cluster does not answer, and then reports an unknown
// state.
func TestUnreachable(t *testing.T) {
	w := newWorld(t)
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("none") })
	w.reconcile()
	w.expect("a kubeconfig that is missing", "KubeconfigGone | NotObserved(KubeconfigGone) 0")
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = newSite("edge1").Spec.Cluster })
	w.deployed(newImage, 1, 2)
	w.until(serves)
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("none") })
	w.reconcile()
	w.expect("at once", serves)
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("after a while", "KubeconfigGone | NotObserved(KubeconfigGone) 0")
	unobserved := true
	w.editSite(func(s *catalogv1alpha1.Site) {
		s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: &unobserved}
	})
	w.reconcile()
	w.clock = w.clock.Add(time.Minute)
	w.reconcile()
	w.expect("a Site that counts as serving", "Serving | NotObserved(KubeconfigGone) 0")
}

func kubeconfigIn(secret string) catalogv1alpha1.SiteCluster {
	return catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: secret, Key: "value"}}
}

// TestForbidden says which rights are missing in the cluster of the control plane.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	w.cluster.PrependReactor("list", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, kerrors.NewForbidden(apps("deployments").GroupResource(), "", errors.New("no"))
	})
	w.until("ProviderAccessDenied | NotObserved(ProviderAccessDenied) 0")
	want := "the provider's service account may not list and watch Deployments and ReplicaSets of namespace team-a: bind the rules of examples/health/rbac.yaml"
	if diff := cmp.Diff(want, w.get().Status.AtProvider.Sites[0].Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
}

// TestNotForThisNamespace refuses a Site that a tenant may not observe, and opens no connection for it.
func TestNotForThisNamespace(t *testing.T) {
	cases := map[string]struct {
		reason string
		site   func(*catalogv1alpha1.Site)
		change func(*v1alpha1.SiteHealthParameters)
		want   string
	}{
		"SiteOfOthers": {
			reason: "A Site that allows other namespaces only is not looked at.",
			site:   func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = []string{"team-b"} },
			want:   "PolicyDenied | NotObserved(PolicyDenied) 0",
		},
		"NoSite": {
			reason: "A Site that does not exist allows no namespace.",
			change: func(p *v1alpha1.SiteHealthParameters) { p.Sites[0].Name = "edge9" }, want: "PolicyDenied | NotObserved(PolicyDenied) 0",
		},
		"NotTarget": {
			reason: "A namespace of the cluster that may not be delivered to may not be observed.",
			site:   func(s *catalogv1alpha1.Site) { s.Spec.TargetNamespaces.Allowed = []string{"apps"} },
			want:   "PolicyDenied | NotObserved(PolicyDenied) 0",
		},
		"OtherClaim": {
			reason: "The claim of another namespace is not looked at.",
			change: func(p *v1alpha1.SiteHealthParameters) { p.ClaimRef.Namespace = "team-b" }, want: "PolicyDenied",
		},
		"Unobserved": {
			reason: "A Site that may not be used does not count as serving, whatever it says of unobserved workloads.",
			site: func(s *catalogv1alpha1.Site) {
				yes := true
				s.Spec.AllowedNamespaces, s.Spec.Engine.UnobservedIsLive = []string{"team-b"}, &yes
			},
			want: "PolicyDenied | NotObserved(PolicyDenied) 0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deployed(newImage, 1, 2)
			if tc.site != nil {
				w.editSite(tc.site)
			}
			if tc.change != nil {
				w.edit(tc.change)
			}
			w.reconcile()
			w.expect(tc.reason, tc.want)
			if links, watches := w.c.pool.Size(); links+watches != 0 {
				t.Errorf("\n%s\n%d connections, %d watches", tc.reason, links, watches)
			}
		})
	}
}
