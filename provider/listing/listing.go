// Package listing lists objects of the control plane at a bounded cost: cached objects without copies, and all others page by page.
//
// Tenants write most of these objects: any number of them, each of up to 1.5 MiB. So the memory of a list must not depend on either, nor on how many
// controllers list at the same time. The linter refuses List calls outside of this package.
package listing

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// firstPage and largestPage are the maximum numbers of objects in the first page of a list, and in any page. Each page that is small enough has twice as
	// many as the page before it.
	firstPage, largestPage = 50, 500

	// maxPageBytes is the number of bytes that are read of one page. A larger page is requested again with half as many objects.
	maxPageBytes = 4 << 20

	// maxPages is the maximum number of pages that the process holds in memory, and maxPagesPerNamespace that of the lists of one namespace.
	// Decoded objects take about five times as much memory as the bytes that the API server sends.
	maxPages, maxPagesPerNamespace = 4, 2
)

// pageSlots limits the number of pages in memory, in the process and for each namespace.
var pageSlots = shares.NewPlaces(shares.Limits{PerHost: maxPages, PerNamespaceAtHost: maxPagesPerNamespace}) //nolint:gochecknoglobals // One bound for the process: no caller can have another one.

// Cached lists the objects of a cache. They share their content with the cache, so that the list takes little memory: the caller must not change them. A list
// that would reach the API server is refused. Errors of the cache are returned unwrapped.
func Cached(ctx context.Context, cache client.Reader, l client.ObjectList, options ...client.ListOption) error {
	return cache.List(withResponseLimit(ctx, &responseLimit{isRefused: true}), l, append(options[:len(options):len(options)], client.UnsafeDisableDeepCopy)...)
}

// EachPage lists objects from the API server, page by page, and calls a function after each page, while the list holds the page: any number of objects takes
// the memory of one page. The function must not list, and must keep no pointer to an object of the page that is larger than its reader needs. Errors of the API
// server are returned unwrapped.
func EachPage(ctx context.Context, r client.Reader, l client.ObjectList, read func(), options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	p := &pages{reader: r, list: l, options: options, size: firstPage}
	for {
		err := InTurn(ctx, o.Namespace, func() error { return p.readNext(ctx, read) })
		if err != nil || p.next == "" {
			return err
		}
	}
}

// InTurn calls a function that holds as much memory as a page, such as a list of another client, when a namespace has its turn. An empty namespace stands
// for lists of all namespaces. It returns the unwrapped error of the function, or the error of the context if that ends before.
func InTurn(ctx context.Context, namespace string, do func() error) error {
	free, err := pageSlots.Acquire(ctx, shares.Place{Namespace: namespace})
	if err != nil {
		return err
	}
	defer free()
	return do()
}

// pages are the state of one list that is read page by page.
type pages struct {
	reader  client.Reader
	list    client.ObjectList
	options []client.ListOption
	// size is the maximum number of objects of the next page, and next its continue token.
	size int64
	next string
}

// readNext reads the next page, calls a function, and drops the page.
func (p *pages) readNext(ctx context.Context, read func()) error {
	isCut, err := p.request(ctx)
	for ; isCut; isCut, err = p.request(ctx) {
		if p.size == 1 {
			return errors.Errorf("the API server sends more than %d MiB for one object", maxPageBytes>>20)
		}
		p.size /= 2
	}
	if err != nil {
		return err
	}
	read()
	p.next, p.size = p.list.GetContinue(), min(2*p.size, largestPage)
	return errors.Wrap(meta.SetList(p.list, nil), "cannot drop page of a list")
}

// request requests a page. It reports whether the page has more bytes than are read.
func (p *pages) request(ctx context.Context) (isCut bool, err error) {
	ctx, hasMore := BoundPage(ctx)
	err = p.reader.List(ctx, p.list, slices.Concat(p.options, []client.ListOption{client.Limit(p.size), client.Continue(p.next)})...)
	return hasMore(), err
}

// BoundPage returns the context of a request for one page of a list, for a client that EachPage cannot use, and a function that reports afterwards whether the
// page has more bytes than were read.
func BoundPage(ctx context.Context) (bounded context.Context, hasMore func() bool) {
	limit := &responseLimit{left: maxPageBytes}
	return withResponseLimit(ctx, limit), func() bool { return limit.isCut }
}
