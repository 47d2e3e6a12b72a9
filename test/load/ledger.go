package load

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Ledger has the charges of Crossplane's circuit breaker, as a watch sees them: a new object costs one token, and each change of an object
// two, since Crossplane maps the old and the new object.
type Ledger struct {
	mu      sync.Mutex
	entries []Entry
	last    map[types.UID]*unstructured.Unstructured
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

// An Entry is one event that costs something.
type Entry struct {
	// Kind and Name of the object.
	Kind, Name string

	// Writers are the field managers whose part was written, as far as the server says.
	Writers []string

	// Changed are the fields that came, changed or went. They are none where fields changed nothing but their manager.
	Changed []string

	// Tokens that it costs.
	Tokens int

	// At is when it was seen.
	At time.Time
}

// chargedKinds returns the kinds whose events reach a composite: its own, composed kinds, and required kinds.
func chargedKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "claims.intentplane.dev", Version: "v1alpha1", Kind: "XIntentDeployment"},
		{Group: "claims.intentplane.dev", Version: "v1alpha1", Kind: "XWorkloadCluster"},
		clusterv1alpha1.GroupVersion.WithKind("ManagedCluster"),
		deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"),
		deliveryv1alpha1.GroupVersion.WithKind("SiteSync"),
		rolloutv1alpha1.GroupVersion.WithKind("Gate"),
		rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest"),
		catalogv1alpha1.GroupVersion.WithKind("Site"),
		catalogv1alpha1.GroupVersion.WithKind("Blueprint"),
		configv1alpha1.GroupVersion.WithKind("ProviderConfig"),
	}
}

// ApplicationKinds returns the kinds whose events reach an Application: its own, and its composed kinds.
func ApplicationKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "intentplane.dev", Version: "v1alpha1", Kind: "Application"},
		{Group: "claims.intentplane.dev", Version: "v1alpha1", Kind: "XApplication"},
		{Group: "intentplane.dev", Version: "v1alpha1", Kind: "IntentDeployment"},
		buildv1alpha1.GroupVersion.WithKind("ImageBuild"),
		deliveryv1alpha1.GroupVersion.WithKind("SiteHealth"),
	}
}

// NewLedger begins to note, until Close. It ignores existing objects, and objects of other namespaces: cluster-scoped objects of a namespace
// have names that begin with it, or are of its claims. Kinds are the kinds of a deployment, unless some are named. It returns an error if
// something cannot be watched.
func NewLedger(ctx context.Context, kube client.WithWatch, namespace string, kinds ...schema.GroupVersionKind) (*Ledger, error) {
	ctx, stop := context.WithCancel(ctx)
	l := &Ledger{last: map[types.UID]*unstructured.Unstructured{}, stop: stop}
	if len(kinds) == 0 {
		kinds = chargedKinds()
	}
	for _, kind := range kinds {
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := kube.List(ctx, all); err != nil {
			l.Close()
			return nil, errors.Wrapf(err, "cannot list %s", kind.Kind)
		}
		for _, o := range all.Items {
			l.last[o.GetUID()] = &o
		}
		w, err := kube.Watch(ctx, all, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: all.GetResourceVersion()}})
		if err != nil {
			l.Close()
			return nil, errors.Wrapf(err, "cannot watch %s", kind.Kind)
		}
		l.ended.Go(func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				l.recordEvent(e, namespace)
			}
		})
	}
	return l, nil
}

// Close ends it. Its entries stay.
func (l *Ledger) Close() {
	l.stop()
	l.ended.Wait()
}

// Entries are the charges so far.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// Deepest is how many tokens were missing when most were, if one comes back each second. The circuit breaker opens where it has no more.
func (l *Ledger) Deepest() float64 {
	missing, deepest, last := 0.0, 0.0, time.Time{}
	for _, e := range l.Entries() {
		if !last.IsZero() {
			missing = max(0, missing-e.At.Sub(last).Seconds())
		}
		missing, last = missing+float64(e.Tokens), e.At
		deepest = max(deepest, missing)
	}
	return deepest
}

func (l *Ledger) recordEvent(e watch.Event, namespace string) {
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok || !isInNamespace(o, namespace) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	previous := l.last[o.GetUID()]
	l.last[o.GetUID()] = o
	entry := Entry{Kind: o.GetKind(), Name: o.GetName(), Tokens: 2, At: time.Now()}
	switch e.Type {
	case watch.Added:
		entry.Tokens, entry.Changed = 1, []string{"(made)"}
	case watch.Deleted:
		entry.Tokens, entry.Changed = 1, []string{"(gone)"}
	case watch.Modified:
		entry.Writers, entry.Changed = changedManagers(previous, o), changedFields(previous, o)
	case watch.Bookmark, watch.Error:
		return
	}
	l.entries = append(l.entries, entry)
}

func isInNamespace(o *unstructured.Unstructured, namespace string) bool {
	return o.GetNamespace() == namespace || o.GetLabels()["crossplane.io/claim-namespace"] == namespace ||
		o.GetNamespace() == "" && strings.HasPrefix(o.GetName(), namespace+"-")
}

// changedManagers returns the managers whose entry is another one now.
func changedManagers(previous, current *unstructured.Unstructured) []string {
	key := func(f metav1.ManagedFieldsEntry) string {
		return strings.TrimSuffix(f.Manager+" "+string(f.Operation)+" "+f.Subresource, " ")
	}
	managers := map[string]metav1.ManagedFieldsEntry{}
	for _, f := range previous.GetManagedFields() {
		managers[key(f)] = f
	}
	var out []string
	for _, f := range current.GetManagedFields() {
		if !reflect.DeepEqual(managers[key(f)], f) {
			out = append(out, key(f))
		}
	}
	return out
}

// depth is how deep the names of changed fields go.
const depth = 3

// changedFields returns the fields in which two states of an object differ.
func changedFields(previous, current *unstructured.Unstructured) []string {
	out := map[string]bool{}
	compareValues("", previous.Object, current.Object, depth, out)
	for _, ignored := range []string{"metadata.resourceVersion", "metadata.managedFields", "metadata.generation"} {
		delete(out, ignored)
	}
	return slices.Sorted(maps.Keys(out))
}

func compareValues(path string, previous, current any, deep int, out map[string]bool) {
	if reflect.DeepEqual(previous, current) {
		return
	}
	a, b := fieldsOfValue(previous), fieldsOfValue(current)
	if deep == 0 || a == nil && b == nil {
		out[path] = true
		return
	}
	for _, name := range slices.Sorted(maps.Keys(mergeMaps(a, b))) {
		compareValues(strings.TrimPrefix(path+"."+name, "."), a[name], b[name], deep-1, out)
	}
}

// fieldsOfValue returns the fields of a map, or conditions by their types.
func fieldsOfValue(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	list, _ := v.([]any)
	out := map[string]any{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		if m["type"] == nil || m["status"] == nil {
			return nil
		}
		out[fmt.Sprint(m["type"])] = fmt.Sprint(m["status"], m["reason"], m["message"], m["observedGeneration"])
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func mergeMaps(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}
