package clusters

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/listing"
)

const (
	// pageSize is the number of objects of a page, and smallerPage the divisor for pages that are too large.
	pageSize    = 500
	smallerPage = 5

	// maxPages is how many pages a list may have.
	maxPages = 100
)

// listObjects lists all objects of the watch, page by page, without the fields that stripUnreadFields removes. Their memory is reserved in the
// store, which releases it when it has them. It returns an AnswerError if they exceed a bound.
func (w *watch) listObjects(ctx context.Context, s *store) (*unstructured.UnstructuredList, error) {
	s.releaseList() // The reflector may have dropped a list before this one.
	all, err := w.listAllPages(ctx, s)
	if err != nil {
		s.releaseList()
	}
	return all, err
}

func (w *watch) listAllPages(ctx context.Context, s *store) (*unstructured.UnstructuredList, error) {
	all := &unstructured.UnstructuredList{}
	o := w.key.narrowOptions(metav1.ListOptions{Limit: pageSize})
	read := int64(0)
	for n := 0; n < maxPages || w.account == nil; n++ {
		page, size, err := w.readPageInTurn(ctx, o, s)
		if account.IsOversize(err) && o.Limit > 1 {
			o.Limit = max(1, o.Limit/smallerPage)
			continue
		}
		if err != nil {
			return nil, err
		}
		read += size
		if err := w.account.CheckList(read); err != nil {
			return nil, err
		}
		all.Items = append(all.Items, page.Items...)
		if o.Continue = page.GetContinue(); o.Continue == "" {
			all.Object = page.Object
			return all, nil
		}
	}
	return nil, &account.AnswerError{Detail: fmt.Sprintf("the cluster's list does not end after %d pages", maxPages)}
}

// readPageInTurn reads one page of a list, and strips it while it has its turn. It returns how many bytes it had, too. Pages of the provider's own cluster have the
// turns of its other lists: it has no account, and tenants write objects there, too.
func (w *watch) readPageInTurn(ctx context.Context, o metav1.ListOptions, s *store) (page *unstructured.UnstructuredList, size int64, err error) {
	if w.account != nil {
		return w.readListPage(ctx, o, s)
	}
	isCut, err := listing.ReadPage(ctx, w.key.namespace, func(ctx context.Context) error {
		page, size, err = w.readListPage(ctx, o, s)
		return err
	})
	if isCut {
		return nil, 0, &account.AnswerError{Detail: "the cluster sends an object that is larger than a page of a list", Oversize: true}
	}
	return page, size, err
}

func (w *watch) readListPage(ctx context.Context, o metav1.ListOptions, s *store) (*unstructured.UnstructuredList, int64, error) {
	e := &account.Expectation{Kind: account.PageAnswer, Account: w.account}
	defer e.End()
	page, err := w.resourceClient().List(account.WithExpectation(ctx, e), o)
	if err != nil {
		return nil, 0, err //nolint:wrapcheck // It is classified by who asked.
	}
	for i := range page.Items {
		stripUnreadFields(&page.Items[i])
		if err := s.reserveForList(account.MemoryOf(page.Items[i].Object)); err != nil {
			return nil, 0, err
		}
	}
	return page, e.Read(), nil
}
