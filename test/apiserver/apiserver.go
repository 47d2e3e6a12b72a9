// Package apiserver is a double of an API server, for tests of who watches one.
//
// A list and the watch that follows it are two requests, and a real API server sends a watch all that happened since the list. The double of
// client-go keeps no history, so deletions between the two are never sent, and a test's cache holds the deleted objects for ever; it gives no
// resource versions to objects, without which a reader does not see that an object changed; and it gives a watch its own objects, which the
// reader then changes. This one has a history, and sends copies.
package apiserver

import (
	"slices"
	"strconv"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A Server is a double of an API server. It has any object, and checks none. It is safe for concurrent use.
type Server struct {
	*dynamicfake.FakeDynamicClient

	history *history
}

// New returns a Server of some resources, by the kinds of their objects. Each has a kind of its own.
func New(kinds map[string]schema.GroupVersionResource) *Server {
	lists := map[schema.GroupVersionResource]string{}
	for kind, resource := range kinds {
		lists[resource] = kind + "List"
	}
	s := &Server{FakeDynamicClient: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)}
	s.history = &history{ObjectTracker: s.FakeDynamicClient.Tracker()}
	s.PrependReactor("*", "*", clienttesting.ObjectReaction(s.history))
	s.PrependWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		o := metav1.ListOptions{}
		if watchAction, ok := a.(clienttesting.WatchActionImpl); ok {
			o = watchAction.ListOptions
		}
		w, err := s.history.Watch(a.GetResource(), a.GetNamespace(), o)
		return true, w, err
	})
	return s
}

// Tracker has the objects. Changes by a reaction of a test are sent to watchers, as all other changes.
func (s *Server) Tracker() clienttesting.ObjectTracker { return s.history }

// A history is a tracker of objects that gives each change a version, and keeps all of them.
type history struct {
	clienttesting.ObjectTracker

	mu       sync.Mutex
	past     []change
	watchers []*watcher
}

// A change of an object. Its version is its place in the history.
type change struct {
	watch.Event

	resource        schema.GroupVersionResource
	namespace, name string
}

// Create an object. It returns an error if it exists.
func (h *history) Create(r schema.GroupVersionResource, o runtime.Object, ns string, _ ...metav1.CreateOptions) error {
	return h.recordChange(watch.Added, r, o, ns, func(o runtime.Object) error { return h.ObjectTracker.Create(r, o, ns) })
}

// Update an object. It returns an error if it does not exist.
func (h *history) Update(r schema.GroupVersionResource, o runtime.Object, ns string, _ ...metav1.UpdateOptions) error {
	return h.recordChange(watch.Modified, r, o, ns, func(o runtime.Object) error { return h.ObjectTracker.Update(r, o, ns) })
}

// Patch replaces an object by its patched version. It returns an error if it does not exist.
func (h *history) Patch(r schema.GroupVersionResource, o runtime.Object, ns string, _ ...metav1.PatchOptions) error {
	return h.Update(r, o, ns)
}

// Delete an object. It returns an error if it does not exist.
func (h *history) Delete(r schema.GroupVersionResource, ns, name string, _ ...metav1.DeleteOptions) error {
	o, err := h.Get(r, ns, name)
	if err != nil {
		return err
	}
	return h.recordChange(watch.Deleted, r, o, ns, func(runtime.Object) error { return h.ObjectTracker.Delete(r, ns, name) })
}

// recordChange makes a change, and sends it to all watchers.
func (h *history) recordChange(eventType watch.EventType, r schema.GroupVersionResource, o runtime.Object, ns string, do func(runtime.Object) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	o = o.DeepCopyObject()
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	m.SetResourceVersion(strconv.Itoa(len(h.past) + 1))
	if err := do(o); err != nil {
		return err
	}
	c := change{Event: watch.Event{Type: eventType, Object: o}, resource: r, namespace: ns, name: m.GetName()}
	h.past = append(h.past, c)
	for _, w := range h.watchers {
		w.sendChange(c)
	}
	return nil
}

// List the objects, with the version up to which their history is known by that. It returns an error if the selector is none.
func (h *history) List(r schema.GroupVersionResource, k schema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error) {
	selector, _, err := parseListOptions(opts)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	o, err := h.ObjectTracker.List(r, k, ns)
	if err != nil {
		return nil, err
	}
	list, ok := o.(*unstructured.UnstructuredList)
	if !ok {
		return nil, errors.Errorf("%T is not a list", o)
	}
	list.Items = slices.DeleteFunc(list.Items, func(u unstructured.Unstructured) bool {
		return !selector.Matches(selectableFields(u.GetNamespace(), u.GetName()))
	})
	list.SetResourceVersion(strconv.Itoa(len(h.past)))
	return list, nil
}

// Watch sends past events since a version, and new ones. Without a version that is all that ever did. It returns an error if the version is
// none, or the selector.
func (h *history) Watch(r schema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error) {
	selector, version, err := parseListOptions(opts)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w := newWatcher(r, ns, selector)
	for _, c := range h.past[min(version, len(h.past)):] {
		w.sendChange(c)
	}
	h.watchers = append(h.watchers, w)
	return w, nil
}

// parseListOptions returns which objects that a list or a watch is for, and since which version.
func parseListOptions(opts []metav1.ListOptions) (fields.Selector, int, error) {
	if len(opts) == 0 {
		return fields.Everything(), 0, nil
	}
	selector, err := fields.ParseSelector(opts[0].FieldSelector)
	if err != nil {
		return nil, 0, errors.Wrap(err, "cannot parse selector")
	}
	version, err := strconv.Atoi("0" + opts[0].ResourceVersion)
	return selector, version, errors.Wrap(err, "cannot parse version")
}

// selectableFields returns the fields that objects are selected by.
func selectableFields(namespace, name string) fields.Set {
	return fields.Set{"metadata.name": name, "metadata.namespace": namespace}
}
