package clusters

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// GateManager is the name under which the Jobs of checks are made.
const GateManager = "intentplane-gate"

// maxListed is how many objects List returns at most.
const maxListed = 10

// Make an object. It returns the UID, or "" where an object of that name exists, which it leaves unchanged without an error. It returns an
// *Error.
func (c *Cluster) Make(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.endAnswer()
	created, err := c.link.client.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldManager: GateManager})
	switch {
	case err == nil:
		return created.GetUID(), nil
	case kerrors.IsAlreadyExists(err):
		return "", nil
	}
	return "", classifyRefusal(err)
}

// List a few objects by their labels. All of them together have the bound of one object. It returns an *Error.
func (c *Cluster) List(ctx context.Context, r schema.GroupVersionResource, namespace, selector string) ([]unstructured.Unstructured, error) {
	l, err := c.listFew(ctx, r, namespace, metav1.ListOptions{LabelSelector: selector, Limit: maxListed})
	if err != nil {
		return nil, classifyRefusal(err)
	}
	return l.Items, nil
}

// EachListed passes all objects that have some labels to a function, a few at a time. Each few have the bound of one object: where they exceed it, fewer are
// listed at once. It returns an *Error.
func (c *Cluster) EachListed(ctx context.Context, r schema.GroupVersionResource, namespace, selector string, visit func([]unstructured.Unstructured)) error {
	o := metav1.ListOptions{LabelSelector: selector, Limit: maxListed}
	for range maxPages {
		page, err := c.listFew(ctx, r, namespace, o)
		if isOversize(err) && o.Limit > 1 {
			o.Limit = max(1, o.Limit/smallerPage)
			continue
		}
		if err != nil {
			return classifyRefusal(err)
		}
		visit(page.Items)
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return nil
		}
	}
	return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: "the cluster's list does not end"}
}

func (c *Cluster) listFew(ctx context.Context, r schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.endAnswer()
	return c.link.client.Resource(r).Namespace(namespace).List(ctx, o) //nolint:wrapcheck // The callers classify it.
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
