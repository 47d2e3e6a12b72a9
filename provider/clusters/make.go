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

// Make an object. It returns the UID, or "" where one of that name is there already: that one is left as it is, and no error. It returns an
// *Error.
func (c *Cluster) Make(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.endAnswer()
	made, err := c.link.client.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldManager: GateManager})
	switch {
	case err == nil:
		return made.GetUID(), nil
	case kerrors.IsAlreadyExists(err):
		return "", nil
	}
	return "", classifyRefusal(err)
}

// List a few objects by their labels. All of them together have the bound of one object. It returns an *Error.
func (c *Cluster) List(ctx context.Context, r schema.GroupVersionResource, namespace, selector string) ([]unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.endAnswer()
	l, err := c.link.client.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: maxListed})
	if err != nil {
		return nil, classifyRefusal(err)
	}
	return l.Items, nil
}

// classifyRefusal returns the Error for a request about an object that belongs to no engine.
func classifyRefusal(err error) *Error {
	switch {
	case kerrors.IsNotFound(err):
		return &Error{Reason: v1alpha1.SiteReasonAccessDenied, Detail: "the namespace does not exist in the cluster"}
	case kerrors.IsForbidden(err), kerrors.IsInvalid(err):
		return &Error{Reason: v1alpha1.SiteReasonAccessDenied, Detail: "the cluster does not take what is made, or not from us"}
	}
	return classifyError(err)
}
