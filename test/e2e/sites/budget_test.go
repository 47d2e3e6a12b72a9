package sites

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// budget is how many tokens of Crossplane's circuit breaker a deployment may cost from apply to Succeeded. It has 100.
	budget = 60

	tenSites = 10

	// stagger is how long each engine answers after the one before.
	stagger = 2 * time.Second
)

// tokens are what all composites have cost so far.
func tokens(t *testing.T) (allowed, dropped float64) {
	t.Helper()
	m, err := cp.CoreMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := func(result string) float64 {
		return m.Sum("circuit_breaker_events_total", map[string]string{"result": result})
	}
	return sum("Allowed"), sum("Dropped") + sum("HalfOpenAllowed")
}

const kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, retryInterval: 5s, prune: true, suspend: true, path: "./clusters/%[2]s", sourceRef: {kind: GitRepository, name: %[3]s}}
`

// manySites is a scene with Sites whose engines are told to do nothing yet.
func manySites(t *testing.T) (s *stage, names []string) {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s = &stage{Scene: scene.New(t, cp), edge: k}
	s.kubeconfig()
	s.must(k.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	source := fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\n"+
		"spec: {interval: 1h, url: %q, ref: {branch: main}}\n", s.Namespace, s.Git.URL(s.Namespace))
	s.must(k.ApplyYAML(t.Context(), []byte(source)))
	for i := range tenSites {
		name := fmt.Sprintf("edge%d", i)
		names = append(names, name)
		s.must(k.ApplyYAML(t.Context(), fmt.Appendf(nil, kustomization, s.Site(name), name, s.Namespace)))
		site := s.Set(s.NewSite(name), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": secret}}, "spec", "cluster")
		s.Apply(s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": controlplane.FluxNamespace, "name": "{site}",
		}}, "spec", "engine"))
	}
	return s, names
}

// TestBreakerBudget runs alone: the figure is that of all composites. A deployment is there before: the first one of a control plane makes
// Crossplane watch Sites, Blueprints and configurations, which costs one more for each that it names.
func TestBreakerBudget(t *testing.T) {
	s, names := manySites(t)
	s.AddSite("near")
	s.Succeed(s.Claim("first", fmt.Sprintf(`{"service": "first", "type": "web", "sites": [%q]}`, s.Site("near"))))
	full := []string{}
	for _, name := range names {
		full = append(full, strconv.Quote(s.Site(name)))
	}
	claim := s.Claim("shop", fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%s], "replicas": 1}`, strings.Join(full, ", ")))
	before, droppedBefore := tokens(t)
	s.Apply(claim)
	s.Await(claim, "delivered", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Delivered", corev1.ConditionTrue, "Delivered")
	})
	ticker := time.NewTicker(stagger)
	defer ticker.Stop()
	for _, name := range names {
		<-ticker.C
		s.patch(named("kustomize.toolkit.fluxcd.io/v1", "Kustomization", s.Site(name)), `{"spec":{"suspend":false}}`)
	}
	s.Succeed(claim)
	after, dropped := tokens(t)
	t.Logf("%v tokens from apply to Succeeded for %d sites, whose engines answered one after another", after-before, tenSites)
	if after-before > budget || dropped != droppedBefore {
		t.Errorf("%v tokens, and %v dropped: want at most %d, and none", after-before, dropped-droppedBefore, budget)
	}
}
