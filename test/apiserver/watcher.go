package apiserver

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// room is how many changes may be sent before their reader takes them. More than that wait.
const room = 1000

// A watcher is one client that watches.
type watcher struct {
	*watch.ProxyWatcher

	events    chan<- watch.Event
	resource  schema.GroupVersionResource
	namespace string
	only      fields.Selector
}

func newWatcher(r schema.GroupVersionResource, ns string, selector fields.Selector) *watcher {
	events := make(chan watch.Event, room)
	return &watcher{ProxyWatcher: watch.NewProxyWatcher(events), events: events, resource: r, namespace: ns, only: selector}
}

// sendChange sends a change to a client that asked for it, and watches still.
func (w *watcher) sendChange(c change) {
	if w.resource != c.resource || w.namespace != "" && w.namespace != c.namespace {
		return
	}
	if !w.only.Matches(selectableFields(c.namespace, c.name)) {
		return
	}
	select {
	case w.events <- watch.Event{Type: c.Type, Object: c.Object.DeepCopyObject()}:
	case <-w.StopChan():
	}
}
