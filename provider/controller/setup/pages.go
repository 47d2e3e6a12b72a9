package setup

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EachPage lists objects page by page, and calls a function after each page, which then has the list: so any number of objects takes the memory of one page.
// Size is how many objects a page has: choose it so that as many of the largest ones fit into memory. It returns the error of the API server as it is.
func EachPage(ctx context.Context, r client.Reader, l client.ObjectList, size int64, read func(), options ...client.ListOption) error {
	for next := ""; ; {
		if err := r.List(ctx, l, append(options[:len(options):len(options)], client.Limit(size), client.Continue(next))...); err != nil {
			return err
		}
		read()
		if next = l.GetContinue(); next == "" {
			return nil
		}
	}
}
