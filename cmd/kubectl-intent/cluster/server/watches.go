package server

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Watches have the objects of resources as their watches show them, so that reading them sends no request.
type Watches struct {
	client  *Client
	stores  map[schema.GroupVersionResource]cache.Store
	failed  map[schema.GroupVersionResource]error
	synced  []cache.InformerSynced
	changed chan struct{}
}

// NewWatches returns watches of no resource yet.
func NewWatches(c *Client) *Watches {
	return &Watches{
		client: c, changed: make(chan struct{}, 1),
		stores: map[schema.GroupVersionResource]cache.Store{}, failed: map[schema.GroupVersionResource]error{},
	}
}

// Add watches the objects of resources in a namespace, or in AllNamespaces, until the context ends. It notes the error of a resource that cannot be listed, and
// Get and the visits of that resource return it. It returns an error when the context ended.
func (w *Watches) Add(ctx context.Context, namespace string, resources []schema.GroupVersionResource) error {
	for _, r := range resources {
		if err := w.watchResource(ctx, namespace, r); err != nil {
			return err
		}
	}
	return nil
}

// WaitForObjects waits until all objects were read, and reports whether they were before the context ended.
func (w *Watches) WaitForObjects(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), w.synced...)
}

// watchResource watches the objects of one resource, or notes the error of listing them.
func (w *Watches) watchResource(ctx context.Context, namespace string, r schema.GroupVersionResource) error {
	if _, err := w.client.objects.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		w.failed[r] = err
		return ctx.Err()
	}
	resourceClient := w.client.watcher.Resource(r).Namespace(namespace)
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return resourceClient.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return resourceClient.Watch(ctx, o)
		},
	}, w.client.watcher), &unstructured.Unstructured{}, 0, cache.Indexers{})
	// The reflector retries by itself. Its log would appear between the lines of the command.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return err
	}
	notify := func(any) { w.notifyReader() }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notify, DeleteFunc: notify, UpdateFunc: func(_, _ any) { w.notifyReader() },
	}); err != nil {
		return err
	}
	w.stores[r] = informer.GetStore()
	w.synced = append(w.synced, informer.HasSynced)
	go informer.RunWithContext(ctx)
	return nil
}

// notifyReader sends the signal of Changed, unless the signal before was not received yet.
func (w *Watches) notifyReader() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Changed has a signal when an object changed since the signal before.
func (w *Watches) Changed() <-chan struct{} { return w.changed }

// storeOfResource returns the objects of a resource. It returns the error of a resource that cannot be listed, or has no watch.
func (w *Watches) storeOfResource(r schema.GroupVersionResource) (cache.Store, error) {
	if err := w.failed[r]; err != nil {
		return nil, err
	}
	if w.stores[r] == nil {
		return nil, errNotWatched
	}
	return w.stores[r], nil
}

// Get returns an object, or the error of an API server that does not have it.
func (w *Watches) Get(_ context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	store, err := w.storeOfResource(r)
	if err != nil {
		return nil, err
	}
	o, _, err := store.GetByKey(namespace + "/" + name)
	if found, ok := o.(*unstructured.Unstructured); ok {
		return found, err
	}
	return nil, kerrors.NewNotFound(r.GroupResource(), name)
}

func (w *Watches) listFromStore(r schema.GroupVersionResource, namespace string, selector labels.Set) ([]unstructured.Unstructured, error) {
	store, err := w.storeOfResource(r)
	if err != nil {
		return nil, err
	}
	var out []unstructured.Unstructured
	for _, o := range store.List() {
		u, ok := o.(*unstructured.Unstructured)
		if !ok || namespace != "" && u.GetNamespace() != namespace || !labels.SelectorFromSet(selector).Matches(labels.Set(u.GetLabels())) {
			continue
		}
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b unstructured.Unstructured) int { return compareNames(&a, &b) })
	return out, nil
}

// VisitPages calls visit with all objects with these labels, as one page. It returns the error of a resource that cannot be listed, or has no watch.
func (w *Watches) VisitPages(
	_ context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set, visit func([]unstructured.Unstructured),
) error {
	all, err := w.listFromStore(r, namespace, selector)
	if err == nil {
		visit(all)
	}
	return err
}

// VisitObjects calls visit with all objects at once. It returns an error as VisitPages does.
func (w *Watches) VisitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]Object)) error {
	return w.VisitPages(ctx, r, namespace, nil, func(page []unstructured.Unstructured) { visit(decodedObjects(page)) })
}

// errNotWatched is the error for a resource without a watch.
var errNotWatched = errors.New("it is not watched")
