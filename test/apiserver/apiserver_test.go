package apiserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/intentplane/intentplane/test/patience"
)

func jobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
}

func newServer() *Server {
	return New(map[string]schema.GroupVersionResource{"Job": jobs(), "Pod": {Version: "v1", Resource: "pods"}})
}

func job(name, says string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"says": says}}}
	u.SetAPIVersion("batch/v1")
	u.SetKind("Job")
	u.SetNamespace("ns")
	u.SetName(name)
	return u
}

// A story is a sequence of changes to objects.
type story struct {
	*testing.T
	dynamic.ResourceInterface
}

func (s story) create(name string) {
	s.Helper()
	_, err := s.Create(s.Context(), job(name, "created"), metav1.CreateOptions{})
	s.must(err)
}

func (s story) update(name string) {
	s.Helper()
	_, err := s.Update(s.Context(), job(name, "updated"), metav1.UpdateOptions{})
	s.must(err)
}

func (s story) patch(name string) {
	s.Helper()
	_, err := s.Patch(s.Context(), name, types.MergePatchType, []byte(`{"spec":{"says":"patched"}}`), metav1.PatchOptions{})
	s.must(err)
}

func (s story) remove(name string) {
	s.Helper()
	s.must(s.Delete(s.Context(), name, metav1.DeleteOptions{}))
}

func (s story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func newStory(t *testing.T, s *Server) story {
	t.Helper()
	return story{T: t, ResourceInterface: s.Resource(jobs()).Namespace("ns")}
}

// TestHistory sends a watch the events since the list, and the events that follow.
func TestHistory(t *testing.T) {
	s := newServer()
	client := newStory(t, s)
	client.create("kept")
	client.create("changed")
	client.create("gone")
	list, err := client.List(t.Context(), metav1.ListOptions{})
	client.must(err)
	client.update("changed")
	client.patch("changed")
	client.remove("gone")
	client.create("new")
	w, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	client.must(err)
	defer w.Stop()
	client.update("kept")
	want := []string{"MODIFIED changed 4 updated", "MODIFIED changed 5 patched", "DELETED gone 6 created", "ADDED new 7 created", "MODIFIED kept 8 updated"}
	if diff := cmp.Diff(want, next(t, w, len(want))); diff != "" {
		t.Errorf("watch events: -want, +got:\n%s", diff)
	}
	live, err := client.Get(t.Context(), "changed", metav1.GetOptions{})
	client.must(err)
	if v := live.GetResourceVersion(); v != "5" {
		t.Errorf("an object that was patched has version %q", v)
	}
}

// next events of a watch.
func next(t *testing.T, w watch.Interface, n int) []string {
	t.Helper()
	var out []string
	for range n {
		select {
		case e := <-w.ResultChan():
			u, _ := e.Object.(*unstructured.Unstructured)
			says, _, _ := unstructured.NestedString(u.Object, "spec", "says")
			out = append(out, fmt.Sprintf("%s %s %s %s", e.Type, u.GetName(), u.GetResourceVersion(), says))
		case <-time.After(patience.Limit):
			t.Fatalf("the watch sends nothing more after %q", out)
		}
	}
	return out
}

func TestSelected(t *testing.T) {
	s := newServer()
	client := newStory(t, s)
	selected, err := client.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=b"})
	client.must(err)
	elsewhere, err := s.Resource(jobs()).Namespace("other").Watch(t.Context(), metav1.ListOptions{})
	client.must(err)
	all, err := s.Resource(jobs()).Watch(t.Context(), metav1.ListOptions{})
	client.must(err)
	client.create("a")
	client.create("b")
	if diff := cmp.Diff([]string{"ADDED b 2 created"}, next(t, selected, 1)); diff != "" {
		t.Errorf("one object: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ADDED a 1 created", "ADDED b 2 created"}, next(t, all, 2)); diff != "" {
		t.Errorf("all namespaces: -want, +got:\n%s", diff)
	}
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=b"})
	client.must(err)
	if len(list.Items) != 1 || list.Items[0].GetName() != "b" {
		t.Errorf("a list of one object: %v", list.Items)
	}
	if n := len(elsewhere.ResultChan()); n > 0 {
		t.Errorf("a watch of another namespace gets %d events", n)
	}
}

// TestStopped gets no more events, and no writer waits for it.
func TestStopped(t *testing.T) {
	s := newServer()
	client := newStory(t, s)
	w, err := client.Watch(t.Context(), metav1.ListOptions{})
	client.must(err)
	w.Stop()
	client.create("a")
	for range 2 * room {
		client.update("a")
	}
}

// TestCache is of an informer that lists and watches while objects change between the two.
func TestCache(t *testing.T) {
	s := newServer()
	client := newStory(t, s)
	client.create("changed")
	client.create("gone")
	done := make(chan struct{})
	s.PrependWatchReactor("jobs", func(clienttesting.Action) (bool, watch.Interface, error) {
		select {
		case <-done:
		default:
			client.must(s.Tracker().Update(jobs(), job("changed", "updated"), "ns"))
			client.must(s.Tracker().Delete(jobs(), "ns", "gone"))
			close(done)
		}
		return false, nil, nil
	})
	events := make(chan string, 100)
	i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListFunc:  func(o metav1.ListOptions) (runtime.Object, error) { return client.List(t.Context(), o) },
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { return client.Watch(t.Context(), o) },
	}, s), &unstructured.Unstructured{}, 0, cache.Indexers{})
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { events <- "deleted" }})
	client.must(err)
	go i.RunWithContext(t.Context())
	select {
	case <-events:
	case <-time.After(patience.Limit):
		t.Fatal("a deletion between list and watch is not sent")
	}
	o, ok, err := i.GetStore().GetByKey("ns/changed")
	if err != nil || !ok {
		t.Fatalf("changed is there: %t, %v", ok, err)
	}
	if says, _, _ := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "spec", "says"); says != "updated" {
		t.Errorf("the cache says %q", says)
	}
}
