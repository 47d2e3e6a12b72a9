package alerts

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/test/scene"
)

// managedCounts are the numbers of objects of a kind, and of objects with a true condition Ready and Synced.
type managedCounts struct{ Exists, Ready, Synced float64 }

// countObjects counts the objects of a kind in all namespaces, as the API server has them.
func (s *stage) countObjects(kind schema.GroupVersionKind) managedCounts {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	s.Must(s.Client.List(s.T.Context(), l))
	out := managedCounts{Exists: float64(len(l.Items))}
	for i := range l.Items {
		if scene.Is(&l.Items[i], string(xpv2.TypeReady), corev1.ConditionTrue, "") {
			out.Ready++
		}
		if scene.Is(&l.Items[i], string(xpv2.TypeSynced), corev1.ConditionTrue, "") {
			out.Synced++
		}
	}
	return out
}

// scrapedCounts returns the provider's counts of a kind that Prometheus scraped. A series that is missing counts as -1.
func (s *stage) scrapedCounts(kind schema.GroupVersionKind) managedCounts {
	s.T.Helper()
	read := func(name string) float64 {
		v := s.queryServer(fmt.Sprintf(`crossplane_managed_resource_%s{job="provider",gvk=%q}`, name, kind.String()))
		if len(v) != 1 {
			return -1
		}
		return float64(v[0].Value)
	}
	return managedCounts{Exists: read("exists"), Ready: read("ready"), Synced: read("synced")}
}
