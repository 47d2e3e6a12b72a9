package listing

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// An Index finds the cached objects of one kind that have a key, at the cost of these objects alone. Event handlers find objects by an Index: a tenant may have
// any number of other objects, and may cause events at any rate. NewIndex returns an Index.
type Index struct {
	object client.Object
	field  string
	keys   client.IndexerFunc
}

// NewIndex returns an index of the kind of an object. The field is the name of the index, and no other index of the kind has it. The function keys returns the
// keys of an object, which it must not change.
func NewIndex[O client.Object](object O, field string, keys func(O) []string) Index {
	return Index{object: object, field: field, keys: func(o client.Object) []string {
		typed, ok := o.(O)
		if !ok {
			return nil
		}
		return keys(typed)
	}}
}

// AddIndexes adds indexes to a cache. It is called once for each cache and index. It returns an error if the cache already has one of the indexes.
func AddIndexes(ctx context.Context, i client.FieldIndexer, indexes ...Index) error {
	for _, x := range indexes {
		if err := i.IndexField(ctx, x.object, x.field, x.keys); err != nil {
			return errors.Wrapf(err, "cannot index %T by %s", x.object, x.field)
		}
	}
	return nil
}

// List lists the objects with a key from a cache that has the index. Like Cached, it copies nothing, and returns errors of the cache unwrapped.
func (x Index) List(ctx context.Context, cache client.Reader, l client.ObjectList, key string, options ...client.ListOption) error {
	return Cached(ctx, cache, l, append(options[:len(options):len(options)], client.MatchingFields{x.field: key})...)
}

// Requests returns a request for each object with any of some keys, once for each object, in the order of the keys. It uses a list for its work. It returns an
// error, beside the requests of the keys before, if the objects cannot be listed.
func (x Index) Requests(
	ctx context.Context, cache client.Reader, l client.ObjectList, keys []string, options ...client.ListOption,
) ([]reconcile.Request, error) {
	var out []reconcile.Request
	visited := map[reconcile.Request]bool{}
	add := func(o runtime.Object) error {
		item, err := meta.Accessor(o)
		if err != nil {
			return errors.Wrap(err, "cannot read metadata")
		}
		r := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: item.GetNamespace(), Name: item.GetName()}}
		if !visited[r] {
			visited[r] = true
			out = append(out, r)
		}
		return nil
	}
	for _, key := range keys {
		if err := x.List(ctx, cache, l, key, options...); err != nil {
			return out, errors.Wrapf(err, "cannot list %T by %s", x.object, x.field)
		}
		if err := meta.EachListItem(l, add); err != nil {
			return out, err
		}
	}
	return out, nil
}
