package sites

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// budget is the figure's limit of the tokens of Crossplane's circuit breaker that a deployment costs from apply to Succeeded. It has 100.
	budget = 60

	tenSites = 10

	// enough is the number of consecutive observations without a cost.
	enough = 20

	// stagger is the delay of each engine's answer after the previous engine's.
	stagger = 2 * time.Second
)

// tokensSpent returns the cost of all composites so far.
func tokensSpent(t *testing.T) (allowed, dropped float64) {
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

// awaitSettled returns when no composite costs anything any more.
func awaitSettled(s *stage) {
	last, unchanged := -1.0, 0
	s.Until("Crossplane has reconciled the earlier objects", patience.Limit, func() bool {
		now, _ := tokensSpent(s.T)
		if now != last {
			last, unchanged = now, 0
		}
		unchanged++
		return unchanged > enough
	})
}

const kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, retryInterval: 5s, prune: true, suspend: true, path: "./clusters/%[2]s", sourceRef: {kind: GitRepository, name: %[3]s}}
`

// newManySites is a scene with Sites of one cluster, each with a Kustomization of its own. They are suspended at first.
func newManySites(t *testing.T, names ...string) *stage {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Scene: scene.New(t, cp), edge: k}
	s.createKubeconfig()
	s.Must(k.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	source := fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\n"+
		"spec: {interval: 1h, url: %q, ref: {branch: main}}\n", s.Namespace, s.Git.URL(s.Namespace))
	s.Must(k.ApplyYAML(t.Context(), []byte(source)))
	for _, name := range names {
		s.Must(k.ApplyYAML(t.Context(), fmt.Appendf(nil, kustomization, s.Site(name), name, s.Namespace)))
		site := s.Set(s.NewSite(name), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": secret}}, "spec", "cluster")
		s.Apply(s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": "{site}",
		}}, "spec", "engine"))
	}
	return s
}

// suspendEngine suspends the engine of a Site, or resumes it.
func (s *stage) suspendEngine(site string, yes bool) {
	s.T.Helper()
	s.patchAtSite(newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", s.Site(site)), fmt.Sprintf(`{"spec":{"suspend":%t}}`, yes))
}

// intentForSites Sites, of a service with a number of replicas.
func (s *stage) intentForSites(service string, replicas int, sites ...string) string {
	full := []string{}
	for _, name := range sites {
		full = append(full, strconv.Quote(s.Site(name)))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": %d}`, service, strings.Join(full, ", "), replicas)
}
