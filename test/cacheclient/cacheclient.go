// Package cacheclient has doubles of the client that reads from a manager's cache.
package cacheclient

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// An Indexer adds the indexes of a controller to the builder of a fake client.
type Indexer struct {
	*fake.ClientBuilder
}

// IndexField adds an index.
func (i Indexer) IndexField(_ context.Context, o client.Object, field string, keys client.IndexerFunc) error {
	i.WithIndex(o, field, keys)
	return nil
}

// A Counter counts the objects that lists return: the cost of an event.
type Counter struct {
	client.Client

	// Listed is the number of objects so far.
	Listed int
}

// List objects.
func (c *Counter) List(ctx context.Context, l client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, l, options...)
	c.Listed += meta.LenList(l)
	return err
}
