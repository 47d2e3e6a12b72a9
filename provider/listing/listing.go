// Package listing lists objects of the control plane at a bounded cost: cached objects without copies, and all others page by page.
//
// Tenants write most of these objects: any number of them, each of up to 1.5 MiB. So the memory of a list must not depend on either, nor on how many
// controllers list at the same time. The linter refuses List calls outside of this package. The list of a kind that is not served is empty only
// if the kind has no definition.
package listing

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// firstPage and largestPage are the maximum numbers of objects in the first page of a list, and in any page. The size of the objects in a page limits the
	// number of objects in the next one.
	firstPage, largestPage = 20, 500

	// maxPageBytes is the limit of the bytes of one page, and pageBytes the size that a page should have. A page above the limit is requested again with a
	// quarter of the objects.
	maxPageBytes, pageBytes = 4 << 20, 3 << 20

	// decodedPageBytes is the memory of a page: decoded objects take about five times as much as the bytes that the API server sends.
	decodedPageBytes = 5 * maxPageBytes

	// maxPages is the maximum number of pages that all namespaces hold in memory, and maxPagesPerNamespace that of the lists of one namespace, and of
	// administrators beside them.
	maxPages, maxPagesPerNamespace = 4, 2
)

// pageSlots limits the number of pages in memory. Administrators wait for no namespace.
var pageSlots = struct{ administrators, tenants *shares.Places }{ //nolint:gochecknoglobals // One bound for the process: no caller can have another one.
	administrators: shares.NewPlaces(shares.Limits{PerHost: maxPagesPerNamespace}),
	tenants:        shares.NewPlaces(shares.Limits{PerHost: maxPages, PerNamespaceAtHost: maxPagesPerNamespace}),
}

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
		isCut, err := ReadPage(ctx, o.Namespace, func(ctx context.Context) error { return p.readNextPage(ctx, read) })
		switch {
		case err != nil:
			return err
		case isCut && p.size == 1:
			return errors.Errorf("the API server sends more than %d MiB for one object", maxPageBytes>>20)
		case isCut:
			p.size = max(1, p.size/4)
		case p.next == "":
			return nil
		}
	}
}

// ReadPage calls a function that requests a page of a list, with a client whose transport is BoundResponses, and that holds the page no longer than it runs. It
// calls it when the payer of the context has its turn: the namespace of the object that is reconciled. Without a payer the listed namespace has it. The slots
// bound the memory of pages, so a page counts and waits for no other memory: a caller may have a reservation. ReadPage reports whether the page has more bytes
// than were read: then the function has failed, and the caller requests fewer objects. Otherwise it returns the unwrapped error of the function, or the error
// of the context if that ends before.
func ReadPage(ctx context.Context, listed string, read func(ctx context.Context) error) (isCut bool, err error) {
	payer := shares.PayerOf(ctx, listed)
	if err := pacer.waitForPage(ctx, payer); err != nil {
		return false, err
	}
	free, err := slotsOfPayer(payer).Acquire(ctx, shares.Place{Namespace: payer})
	if err != nil {
		return false, err
	}
	defer free()
	memory.Hold(payer, decodedPageBytes)
	defer memory.Hold(payer, -decodedPageBytes)
	limit := &responseLimit{left: maxPageBytes}
	err = read(withResponseLimit(ctx, limit))
	pacer.countPageBytes(payer, limit.responseBytes())
	if limit.isCut {
		return true, nil
	}
	return false, err
}

// slotsOfPayer returns the slots of a payer. Empty stands for administrators.
func slotsOfPayer(payer string) *shares.Places {
	if payer == "" {
		return pageSlots.administrators
	}
	return pageSlots.tenants
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

// readNextPage reads the next page, calls a function, and drops the page.
func (p *pages) readNextPage(ctx context.Context, read func()) error {
	err := p.reader.List(ctx, p.list, slices.Concat(p.options, []client.ListOption{client.Limit(p.size), client.Continue(p.next)})...)
	if err != nil {
		return err
	}
	read()
	p.next, p.size = p.list.GetContinue(), nextPageSize(limitFromContext(ctx).responseBytes(), int64(meta.LenList(p.list)))
	return errors.Wrap(meta.SetList(p.list, nil), "cannot drop page of a list")
}

// nextPageSize returns the limit of objects in the page after a page of some bytes and objects.
func nextPageSize(bytes, objects int64) int64 {
	return max(1, min(largestPage, pageBytes*max(1, objects)/max(1, bytes)))
}
