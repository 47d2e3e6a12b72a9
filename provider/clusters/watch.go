package clusters

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/intentplane/intentplane/provider/engines"
)

const (
	// requestTimeout ends a request that is no watch.
	requestTimeout = 20 * time.Second

	// patience is how long the first reader of a watch waits for it.
	patience = 5 * time.Second
)

type watchKey struct {
	resource  schema.GroupVersionResource
	namespace string
	// name of the only object that is followed. Empty follows all.
	name string
}

// narrow a list or a watch to what is followed.
func (k watchKey) narrow(o metav1.ListOptions) metav1.ListOptions {
	if k.name != "" {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", k.name).String()
	}
	return o
}

// A watch follows one kind, or one object of it, in one namespace of one cluster.
type watch struct {
	pool     *Pool
	link     *link
	key      watchKey
	informer cache.SharedIndexInformer
	stop     context.CancelFunc

	// owners are the users, and the names of what they read. The Pool's lock guards it.
	owners map[types.NamespacedName]map[string]bool

	mu sync.Mutex
	// failure is why the cluster does not tell any more.
	failure *Error
	// trouble is closed while there is a failure.
	trouble chan struct{}
}

// A feed lists and watches as the reflector wants it.
type feed struct {
	*cache.ListWatch
}

// IsWatchListSemanticsUnSupported is always true: a list says best what is wrong.
func (feed) IsWatchListSemanticsUnSupported() bool { return true }

func newWatch(p *Pool, l *link, key watchKey) *watch {
	w := &watch{pool: p, link: l, key: key, owners: map[types.NamespacedName]map[string]bool{}, trouble: make(chan struct{})}
	of := l.client.Resource(key.resource).Namespace(key.namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			list, err := of.List(ctx, key.narrow(o))
			w.heard(ctx, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			i, err := of.Watch(ctx, key.narrow(o))
			w.heard(ctx, err)
			return i, err
		},
	}
	w.informer = cache.NewSharedIndexInformer(feed{lw}, &unstructured.Unstructured{}, 0, cache.Indexers{})
	// Neither can fail before the informer runs.
	_ = w.informer.SetTransform(strip)
	// What goes wrong is in the status of who reads. What a cluster says about it is not for our log.
	_ = w.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	_, _ = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    w.changed,
		UpdateFunc: w.updated,
		DeleteFunc: w.changed,
	})
	return w
}

func (w *watch) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	go w.informer.RunWithContext(ctx)
}

// strip what nobody reads, and what can be large.
func strip(o any) (any, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	u.SetManagedFields(nil)
	for _, fields := range [][]string{
		{"status", "inventory"},
		{"status", "history"},
		{"status", "resources"},
		{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"},
	} {
		unstructured.RemoveNestedField(u.Object, fields...)
	}
	stripKind(u)
	return u, nil
}

// stripKind drops what is large in objects of some kinds: schemas of definitions, and what Workspaces carry out.
func stripKind(u *unstructured.Unstructured) {
	switch u.GetKind() {
	case "CustomResourceDefinition":
		versions, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "versions")
		list, _ := versions.([]any)
		for _, v := range list {
			if m, ok := v.(map[string]any); ok {
				delete(m, "schema")
			}
		}
	case "Workspace":
		unstructured.RemoveNestedField(u.Object, "spec", "forProvider")
	}
}

// heard from the cluster, or not.
func (w *watch) heard(ctx context.Context, err error) {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // It was we who hung up.
	}
	failure := classify(err)
	if failure != nil && failure.passing {
		return
	}
	w.mu.Lock()
	news := failure.reason() != w.failure.reason()
	switch {
	case failure != nil && w.failure == nil:
		close(w.trouble)
	case failure == nil && w.failure != nil:
		w.trouble = make(chan struct{})
	}
	w.failure = failure
	w.mu.Unlock()
	if news {
		w.wake("")
	}
}

// failed says why the cluster does not tell, and what is closed while that is so.
func (w *watch) failed() (<-chan struct{}, *Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble, w.failure
}

// settled waits until it is known what there is, or that nobody tells. A cluster that is known not to answer is not waited for.
func (w *watch) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.pool.patience)
	defer cancel()
	trouble, _ := w.failed()
	select {
	case <-w.informer.HasSyncedChecker().Done():
	case <-trouble:
	case <-ctx.Done():
	}
	if _, f := w.failed(); f != nil {
		return f
	}
	if !w.informer.HasSynced() {
		return unanswered()
	}
	return nil
}

func (w *watch) get(ref engines.Ref) (*unstructured.Unstructured, error) {
	key := ref.Name
	if ref.Namespace != "" {
		key = ref.Namespace + "/" + ref.Name
	}
	o, ok, err := w.informer.GetStore().GetByKey(key)
	u, is := o.(*unstructured.Unstructured)
	if err != nil || !ok || !is {
		return nil, nil //nolint:nilerr,nilnil // A store of keys cannot fail, and nothing is an answer.
	}
	return u, nil
}

// named are the objects of a name, by namespace.
func (w *watch) named(name string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range w.informer.GetStore().List() {
		if u, ok := o.(*unstructured.Unstructured); ok && u.GetName() == name {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetNamespace(), b.GetNamespace()) })
	return out
}

func (w *watch) updated(before, after any) {
	a, ok := before.(*unstructured.Unstructured)
	b, ok2 := after.(*unstructured.Unstructured)
	if ok && ok2 && a.GetResourceVersion() == b.GetResourceVersion() {
		return
	}
	w.changed(after)
}

func (w *watch) changed(o any) {
	if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = d.Obj
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		w.wake(u.GetName())
	}
}

// wake those who read an object, or all users if it has no name.
func (w *watch) wake(name string) {
	w.pool.mu.Lock()
	owners := make([]types.NamespacedName, 0, len(w.owners))
	for owner, names := range w.owners {
		if name == "" || names[name] {
			owners = append(owners, owner)
		}
	}
	w.pool.mu.Unlock()
	for _, owner := range owners {
		w.pool.wake(owner)
	}
}
