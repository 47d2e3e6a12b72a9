package server

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Follow calls isDone with each version of an object until it returns true. It returns an error when the context ends first, when the object is deleted, and
// when it cannot be watched.
func Follow[T any](ctx context.Context, c *Client, r schema.GroupVersionResource, o *unstructured.Unstructured, isDone func(*T) (bool, error)) error {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, o.GetName()).String()
	w := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.FieldSelector = selector
		return c.watcher.Resource(r).Namespace(o.GetNamespace()).Watch(ctx, options)
	}}
	_, err := watchtools.Until(ctx, o.GetResourceVersion(), w, func(e watch.Event) (bool, error) { return handleEvent(e, isDone) })
	if ctx.Err() != nil {
		return errors.Errorf("%s did not come to its end in time", o.GetName())
	}
	return errors.Wrapf(err, "cannot wait for %s", o.GetName())
}

func handleEvent[T any](e watch.Event, isDone func(*T) (bool, error)) (bool, error) {
	switch e.Type {
	case watch.Error:
		return false, kerrors.FromObject(e.Object)
	case watch.Deleted:
		return false, errors.New("it was deleted")
	case watch.Added, watch.Modified, watch.Bookmark:
	}
	r := new(T)
	if err := Decode(e.Object, r); err != nil {
		return false, err
	}
	return isDone(r)
}
