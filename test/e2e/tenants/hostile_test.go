package tenants

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/hostile"
	"github.com/intentplane/intentplane/test/scene"
)

// A stage is the scene of one tenant.
type stage struct{ *scene.Scene }

func (s *stage) must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

func (s *stage) intent(service string, replicas int, sites ...string) string {
	full := []string{}
	for _, name := range sites {
		full = append(full, fmt.Sprintf("%q", s.Site(name)))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": %d}`, service, strings.Join(full, ", "), replicas)
}

// addCluster makes a Site whose cluster is hostile.
func (s *stage) addCluster(name string, c *hostile.Cluster) {
	s.T.Helper()
	s.T.Cleanup(c.Stop)
	kubeconfig, err := c.Kubeconfig()
	s.must(err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, Data: map[string][]byte{"value": kubeconfig}}
	s.must(s.Client.Create(s.T.Context(), secret))
	site := s.NewSite(name)
	s.Set(site, map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": name}}, "spec", "cluster")
	s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": "flux-system", "name": "edge",
	}}, "spec", "engine")
	s.Apply(site)
}

// blames waits until a claim's status names what the cluster of a Site does.
func (s *stage) blames(claim *unstructured.Unstructured, site, want string) {
	s.T.Helper()
	s.Until("Site "+site+" is told: "+want, scene.Patience, func() bool {
		u := s.sync(claim.GetName())
		return u != nil && strings.Contains(observed(u, s.Site(site)), want)
	})
}

// sync is the SiteSync of a claim, or nil.
func (s *stage) sync(claim string) *unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
	l.SetKind("SiteSyncList")
	s.must(s.Client.List(s.T.Context(), l))
	for i := range l.Items {
		if scene.Field(&l.Items[i], "spec", "forProvider", "claimRef", "name") == claim && l.Items[i].GetNamespace() == s.Namespace {
			return &l.Items[i]
		}
	}
	return nil
}

// observed is what a SiteSync says of a Site.
func observed(u *unstructured.Unstructured, site string) string {
	sites, _, _ := unstructured.NestedSlice(u.Object, "status", "atProvider", "sites")
	for _, o := range sites {
		if o, ok := o.(map[string]any); ok && o["name"] == site {
			return fmt.Sprintf("%v: %v", o["reason"], o["message"])
		}
	}
	return ""
}

// TestHostileTenant has a tenant whose clusters send without end, and whose Git servers hang or send what is too large or broken, beside one
// who delivers. The conditions of the hostile one say what each of them does; the deliveries of the good one take about as long as without it.
func TestHostileTenant(t *testing.T) {
	t.Parallel()
	bad, good := &stage{scene.New(t, cp)}, &stage{scene.New(t, cp, "edge1")}
	good.Succeed(good.Claim("first", good.intent("first", 1, "edge1"))) // The first delivery of all starts what the others use.
	before := good.slowestDelivery("before")
	clusters := map[string]struct {
		server *hostile.Cluster
		want   string
	}{
		"list":   {server: hostile.New(hostile.EndlessList, nil), want: "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends more than 8 MiB for a page of a list"},
		"zipped": {server: hostile.New(hostile.EndlessZippedList, nil), want: "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends what takes more than 48 MiB of memory for a page of a list"},
		"event":  {server: hostile.New(nil, hostile.EndlessEvent), want: "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends more than 2 MiB for an event of a watch"},
		"events": {server: hostile.New(nil, hostile.EndlessEvents), want: "EngineObjectMissing: Kustomization flux-system/edge does not exist"},
	}
	claims := map[string]*unstructured.Unstructured{}
	for name, c := range clusters {
		bad.addCluster(name, c.server)
		claims[name] = bad.Claim(name, bad.intent(name, 1, name))
		bad.Apply(claims[name])
	}
	for name, c := range clusters {
		bad.blames(claims[name], name, c.want)
	}
	gits, free := bad.startGits()
	bad.AddSite("plain")
	for name, g := range gits {
		bad.deliverTo(name, g)
	}
	for name, g := range gits {
		bad.awaitUnready(name, g.want)
	}

	beside := good.slowestDelivery("beside")
	for name, c := range clusters {
		bad.blames(claims[name], name, c.want)
	}
	for name, g := range gits {
		bad.awaitUnready(name, g.want)
	}
	free()
	for _, c := range clusters {
		c.server.Stop()
	}
	// A machine that has other work too makes both slower.
	if without := max(before, good.slowestDelivery("after")); beside > tolerance*without {
		t.Errorf("a delivery of the good tenant takes %s beside the hostile one, and %s without it", beside, without)
	}
}
