package cluster

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

// A Mirror has the objects of a cluster as watches show them, so that each look at them asks nothing.
type Mirror struct {
	namespace string
	stores    map[schema.GroupVersionResource]cache.Store
	failed    map[schema.GroupVersionResource]error
	changed   chan struct{}
}

// MirrorParts select the objects that a Mirror has beside the objects that users made.
type MirrorParts struct {
	// IsComposedWanted selects their composed objects, and IsBeneathWanted the objects that ReadBeneath reads.
	IsComposedWanted, IsBeneathWanted bool
}

// Mirror watches the Bundles, Applications, deployments and clusters of a namespace, or of AllNamespaces, and the parts that are wanted. It returns an error
// when the context ends before all that can be read was.
func (c *Cluster) Mirror(ctx context.Context, namespace string, parts MirrorParts) (*Mirror, error) {
	m := &Mirror{
		namespace: namespace, changed: make(chan struct{}, 1),
		stores: map[schema.GroupVersionResource]cache.Store{}, failed: map[schema.GroupVersionResource]error{},
	}
	synced, err := c.watchAll(ctx, m, namespace, parts.resourcesInNamespaces())
	if err != nil {
		return nil, err
	}
	if parts.IsBeneathWanted {
		beneath, err := c.watchAll(ctx, m, AllNamespaces, beneathResources())
		if err != nil {
			return nil, err
		}
		synced = append(synced, beneath...)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil, errors.New("cannot read all objects before the time was up")
	}
	return m, nil
}

// resourcesInNamespaces are the kinds to watch that are in namespaces.
func (p MirrorParts) resourcesInNamespaces() []schema.GroupVersionResource {
	out := []schema.GroupVersionResource{}
	for _, g := range claimGroups() {
		out = append(out, subjectResources(g)...)
	}
	if p.IsComposedWanted {
		out = append(append(out, composedResources()...), managedResource(), healthsResource(), statesResource())
	}
	return out
}

// watchAll watches the objects of resources, and returns functions that report whether all were read.
func (c *Cluster) watchAll(ctx context.Context, m *Mirror, namespace string, resources []schema.GroupVersionResource) ([]cache.InformerSynced, error) {
	var out []cache.InformerSynced
	for _, r := range resources {
		isSynced, err := c.watchResource(ctx, m, namespace, r)
		if err != nil {
			return nil, err
		}
		if isSynced != nil {
			out = append(out, isSynced)
		}
	}
	return out, nil
}

// watchResource watches the objects of one resource. A resource that cannot be listed is noted, as a single look would. It returns a function
// that reports whether all were read.
func (c *Cluster) watchResource(ctx context.Context, m *Mirror, namespace string, r schema.GroupVersionResource) (cache.InformerSynced, error) {
	if _, err := c.client.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		m.failed[r] = err
		return nil, ctx.Err()
	}
	resourceClient := c.watcher.Resource(r).Namespace(namespace)
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return resourceClient.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return resourceClient.Watch(ctx, o)
		},
	}, c.watcher), &unstructured.Unstructured{}, 0, cache.Indexers{})
	// The reflector tries again by itself. Its log would stand between our lines.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return nil, err
	}
	notify := func(any) { m.notifyViewer() }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notify, DeleteFunc: notify, UpdateFunc: func(_, _ any) { m.notifyViewer() },
	}); err != nil {
		return nil, err
	}
	m.stores[r] = informer.GetStore()
	go informer.RunWithContext(ctx)
	return informer.HasSynced, nil
}

// notifyViewer says that something changed, unless that was said and not heard yet.
func (m *Mirror) notifyViewer() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Changed says that something changed since it was read last.
func (m *Mirror) Changed() <-chan struct{} { return m.changed }

// Subject returns the objects of a name, as Cluster.Subject does.
func (m *Mirror) Subject(ctx context.Context, name string) (*Subjects, error) {
	return reader{source: m, namespace: m.namespace}.find(ctx, name)
}

// All returns the Bundles, Applications, deployments and clusters, as Cluster.All does.
func (m *Mirror) All(ctx context.Context) (*Subjects, error) {
	return reader{source: m, namespace: m.namespace}.all(ctx)
}

func (m *Mirror) get(_ context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := m.failed[r]; err != nil {
		return nil, err
	}
	o, _, err := m.stores[r].GetByKey(namespace + "/" + name)
	if found, ok := o.(*unstructured.Unstructured); ok {
		return found, err
	}
	return nil, kerrors.NewNotFound(r.GroupResource(), name)
}

func (m *Mirror) list(_ context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set) ([]unstructured.Unstructured, error) {
	if err := m.failed[r]; err != nil {
		return nil, err
	}
	if m.stores[r] == nil {
		return nil, errNotWatched
	}
	var out []unstructured.Unstructured
	for _, o := range m.stores[r].List() {
		u, ok := o.(*unstructured.Unstructured)
		if !ok || namespace != "" && u.GetNamespace() != namespace || !labels.SelectorFromSet(selector).Matches(labels.Set(u.GetLabels())) {
			continue
		}
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b unstructured.Unstructured) int { return compareNames(&a, &b) })
	return out, nil
}

func (m *Mirror) visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set, visit func([]unstructured.Unstructured)) error {
	all, err := m.list(ctx, r, namespace, selector)
	if err == nil {
		visit(all)
	}
	return err
}

func (m *Mirror) visitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]object)) error {
	return m.visitPages(ctx, r, namespace, nil, func(page []unstructured.Unstructured) { visit(objectsOf(page)) })
}
