package tenants

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/hostile"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A stage is the scene of one tenant.
type stage struct{ *scene.Scene }

func (s *stage) describeIntent(service string, replicas int, sites ...string) string {
	full := []string{}
	for _, name := range sites {
		full = append(full, fmt.Sprintf("%q", s.Site(name)))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": %d}`, service, strings.Join(full, ", "), replicas)
}

// addHostileSite makes a Site whose cluster is hostile.
func (s *stage) addHostileSite(name string, c *hostile.Cluster) {
	s.T.Helper()
	s.T.Cleanup(c.Stop)
	kubeconfig, err := c.Kubeconfig()
	s.Must(err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, Data: map[string][]byte{"value": kubeconfig}}
	s.Must(s.Client.Create(s.T.Context(), secret))
	site := s.NewSite(name)
	s.Set(site, map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": name}}, "spec", "cluster")
	s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": "flux-system", "name": "edge",
	}}, "spec", "engine")
	s.Apply(site)
}

// awaitBlamed waits until a claim's status names the fault of a Site's cluster.
func (s *stage) awaitBlamed(claim *unstructured.Unstructured, site, want string) {
	s.T.Helper()
	s.Until("Site "+site+" is told: "+want, patience.Limit, func() bool {
		u := s.siteSyncOfClaim(claim.GetName())
		return u != nil && strings.Contains(observedBySync(u, s.Site(site)), want)
	})
}

// siteSyncOfClaim is the SiteSync of a claim, or nil.
func (s *stage) siteSyncOfClaim(claim string) *unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
	l.SetKind("SiteSyncList")
	s.Must(s.Client.List(s.T.Context(), l))
	for i := range l.Items {
		if scene.Field(&l.Items[i], "spec", "forProvider", "claimRef", "name") == claim && l.Items[i].GetNamespace() == s.Namespace {
			return &l.Items[i]
		}
	}
	return nil
}

// observedBySync is the SiteSync's report of a Site.
func observedBySync(u *unstructured.Unstructured, site string) string {
	sites, _, _ := unstructured.NestedSlice(u.Object, "status", "atProvider", "sites")
	for _, o := range sites {
		if o, ok := o.(map[string]any); ok && o["name"] == site {
			return fmt.Sprintf("%v: %v", o["reason"], o["message"])
		}
	}
	return ""
}
