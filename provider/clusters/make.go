package clusters

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/listing"
)

// GateManager is the name under which the Jobs of checks are made.
const GateManager = "intentplane-gate"

// maxListed is the maximum number of objects that are listed at once.
const maxListed = 10

// Make an object. It returns the UID, or "" where an object of that name exists, which it leaves unchanged without an error. It returns an
// *Error.
func (c *Cluster) Make(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.End()
	created, err := c.link.client.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldManager: GateManager})
	switch {
	case err == nil:
		return created.GetUID(), nil
	case kerrors.IsAlreadyExists(err):
		return "", nil
	}
	return "", classifyRefusal(err)
}

// VisitFew passes a few objects, by their labels, to a function, which must not keep them. All of them together have the bound of one object. It returns an
// *Error.
func (c *Cluster) VisitFew(ctx context.Context, r schema.GroupVersionResource, namespace, selector string, visit func([]unstructured.Unstructured)) error {
	o := metav1.ListOptions{LabelSelector: selector, Limit: maxListed}
	if _, err := c.visitListPage(ctx, r, namespace, o, visit); err != nil {
		return classifyRefusal(err)
	}
	return nil
}

// EachListed passes all objects that have some labels to a function, a few at a time. The function must not keep them: they take memory in their turn alone.
// Each few have the bound of one object: where they exceed it, fewer are listed at once. It returns an *Error.
func (c *Cluster) EachListed(ctx context.Context, r schema.GroupVersionResource, namespace, selector string, visit func([]unstructured.Unstructured)) error {
	o := metav1.ListOptions{LabelSelector: selector, Limit: maxListed}
	for range maxPages {
		next, err := c.visitListPage(ctx, r, namespace, o, visit)
		if account.IsOversize(err) && o.Limit > 1 {
			o.Limit = max(1, o.Limit/smallerPage)
			continue
		}
		if err != nil {
			return classifyRefusal(err)
		}
		if o.Continue = next; o.Continue == "" {
			return nil
		}
	}
	return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: "the cluster's list does not end"}
}

// visitListPage lists a few objects, passes them to a function, and returns the token of the next few. The account of the cluster pays until the function ends. The
// provider's own cluster has no account, and tenants write objects there, too: its lists have the turns of all pages.
func (c *Cluster) visitListPage(
	ctx context.Context, r schema.GroupVersionResource, namespace string, o metav1.ListOptions, visit func([]unstructured.Unstructured),
) (next string, err error) {
	read := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		ctx, e := c.link.expectObject(ctx)
		defer e.End()
		page, err := c.link.client.Resource(r).Namespace(namespace).List(ctx, o)
		if err != nil {
			return err //nolint:wrapcheck // The callers classify it.
		}
		visit(page.Items)
		next = page.GetContinue()
		return nil
	}
	if c.link.account != nil {
		err = read(ctx)
		return next, err
	}
	isCut, err := listing.ReadPage(ctx, namespace, read)
	if isCut {
		return "", &account.AnswerError{Detail: "the cluster sends objects that are larger than a page of a list", Oversize: true}
	}
	return next, err
}

// classifyRefusal returns the Error for a request about an object that belongs to no engine.
func classifyRefusal(err error) *Error {
	switch {
	case kerrors.IsNotFound(err):
		return &Error{Reason: v1alpha1.SiteReasonAccessDenied, Detail: "the namespace does not exist in the cluster"}
	case kerrors.IsForbidden(err), kerrors.IsInvalid(err):
		return &Error{Reason: v1alpha1.SiteReasonAccessDenied, Detail: "the cluster rejected the object, or the provider is not allowed to create it"}
	}
	return classifyError(err)
}
