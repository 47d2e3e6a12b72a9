package clusters

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A pair is the phase that core computed, with our reason or phase at the same time.
type pair struct{ core, ours string }

// A table has the pairs of docs/clusters.md, and where they stand in an object.
type table struct {
	of   func(*unstructured.Unstructured) pair
	rows map[string][]string
}

// reasonsInOrder are the reasons of a ManagedCluster.
func reasonsInOrder() table {
	return table{
		of: func(u *unstructured.Unstructured) pair {
			return pair{scene.Field(u, "status", "atProvider", "phase"), string(scene.Condition(u, "Ready").Reason)}
		},
		rows: map[string][]string{
			// The ManagedCluster reports Deleting as soon as it is deleted, and core observes the deletion of its Cluster a moment later.
			"":             {"ObjectMissing", "NotReferenced", "NotInitialized", "Provisioning", "Deleting"},
			"Pending":      {"NotReferenced", "NotInitialized", "Provisioning", "Deleting"},
			"Provisioning": {"Provisioning", "NotInitialized", "EndpointUnknown", "Deleting"},
			"Provisioned":  {"NotInitialized", "KubeconfigMissing", "ServerUnreachable", "NotReady", "Stabilizing", "Ready", "Degraded", "Deleting"},
			"Deleting":     {"Deleting"},
		},
	}
}

// phasesInOrder are the phases of a WorkloadCluster.
func phasesInOrder() table {
	return table{
		of: func(u *unstructured.Unstructured) pair {
			return pair{scene.Field(u, "status", "cluster", "phase"), scene.Field(u, "status", "phase")}
		},
		rows: map[string][]string{
			"":             {"Pending", "Provisioning"},
			"Pending":      {"Provisioning"},
			"Provisioning": {"Provisioning"},
			"Provisioned":  {"Provisioning", "Provisioned", "Degraded"},
			"Deleting":     {"Deleting"},
		},
	}
}

// A follower notes the states of an object.
type follower struct {
	table

	mu   sync.Mutex
	seen []pair
	stop func()
	done chan struct{}
}

// followObject follows an object from before it is made.
func (s *stage) followObject(o *unstructured.Unstructured, t table) *follower {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.Client.Watch(s.T.Context(), l, client.InNamespace(s.Namespace), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	s.Must(err)
	f := &follower{table: t, stop: w.Stop, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for e := range w.ResultChan() {
			if u, ok := e.Object.(*unstructured.Unstructured); ok {
				f.recordState(u)
			}
		}
	}()
	s.T.Cleanup(f.stop)
	return f
}

func (f *follower) recordState(u *unstructured.Unstructured) {
	p := f.of(u)
	if p.ours == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 || f.seen[len(f.seen)-1] != p {
		f.seen = append(f.seen, p)
	}
}

// awaitStateOrder waits until these were seen in this order, and checks that all that was seen by then is documented.
func (f *follower) awaitStateOrder(s *stage, order ...pair) {
	s.T.Helper()
	s.T.Cleanup(func() {
		if s.T.Failed() {
			s.T.Logf("want in this order %+v, saw %+v", order, f.listObserved())
		}
	})
	s.Until("the states of an object, in their order", patience.Limit, func() bool { return containsInOrder(f.listObserved(), order) })
	f.stop()
	<-f.done
	for _, p := range f.listObserved() {
		if !slices.Contains(f.rows[p.core], p.ours) {
			s.T.Errorf("while core says %q, we say %q, which is not documented", p.core, p.ours)
		}
	}
}

func (f *follower) listObserved() []pair {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// containsInOrder is true if all of order are among observed, one after another.
func containsInOrder(observed, order []pair) bool {
	for _, p := range order {
		i := slices.Index(observed, p)
		if i < 0 {
			return false
		}
		observed = observed[i:]
	}
	return true
}
