package clusters

import (
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/scene"
)

// A pair is the phase that core computed, and what was said of the cluster when it was seen.
type pair struct{ phase, reason string }

// documented are the pairs of docs/clusters.md.
func documented() map[pair]bool {
	out := map[pair]bool{}
	for phase, reasons := range map[string][]string{
		"":             {"ObjectMissing", "Provisioning", "NotReferenced", "NotInitialized"},
		"Pending":      {"Provisioning", "NotReferenced", "NotInitialized"},
		"Provisioning": {"Provisioning", "NotInitialized", "EndpointUnknown"},
		"Provisioned":  {"NotInitialized", "KubeconfigMissing", "ServerUnreachable", "Stabilizing", "Ready", "Degraded"},
		"Deleting":     {"Deleting"},
	} {
		for _, r := range reasons {
			out[pair{phase, r}] = true
		}
	}
	return out
}

// A follower notes what a ManagedCluster says.
type follower struct {
	mu   sync.Mutex
	seen []pair
	stop func()
	done chan struct{}
}

// follow a ManagedCluster from before it is made.
func (s *stage) follow(mc *unstructured.Unstructured) *follower {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(mc.GetAPIVersion())
	l.SetKind(mc.GetKind() + "List")
	w, err := s.Client.Watch(s.T.Context(), l, client.InNamespace(s.Namespace), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", mc.GetName()),
	})
	s.must(err)
	f := &follower{stop: w.Stop, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for e := range w.ResultChan() {
			if u, ok := e.Object.(*unstructured.Unstructured); ok {
				f.note(u)
			}
		}
	}()
	s.T.Cleanup(f.stop)
	return f
}

func (f *follower) note(u *unstructured.Unstructured) {
	reason := string(scene.Condition(u, "Ready").Reason)
	if reason == "" {
		return
	}
	p := pair{scene.Field(u, "status", "atProvider", "phase"), reason}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 || f.seen[len(f.seen)-1] != p {
		f.seen = append(f.seen, p)
	}
}

// check that all that was seen is documented, and that these were among it, in this order.
func (f *follower) check(t *testing.T, order ...pair) {
	t.Helper()
	f.stop()
	<-f.done
	known := documented()
	for _, p := range f.seen {
		if !known[p] {
			t.Errorf("while core says %q, we say %q, which is not documented", p.phase, p.reason)
		}
	}
	rest := f.seen
	for _, p := range order {
		i := slices.Index(rest, p)
		if i < 0 {
			t.Fatalf("%+v was not seen, in its place among %+v", p, f.seen)
		}
		rest = rest[i:]
	}
}
