package controlplane

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// waitForPermissions waits until the RBAC manager let core and the provider use our kinds. Crossplane's core waits two minutes, without
// a word, for a kind that it may not watch.
func (c *ControlPlane) waitForPermissions(ctx context.Context) error {
	xrds, err := c.listObjects(ctx, "apiextensions.crossplane.io/v1", "CompositeResourceDefinition")
	if err != nil {
		return err
	}
	mrds, err := c.listObjects(ctx, "apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition")
	if err != nil {
		return err
	}
	for i := range xrds {
		if err := c.waitForPermission(ctx, coreServiceAccount, watchAttributes(&xrds[i])); err != nil {
			return err
		}
	}
	for i := range mrds {
		for _, account := range []string{coreServiceAccount, ProviderServiceAccount} {
			if err := c.waitForPermission(ctx, account, watchAttributes(&mrds[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// watchAttributes returns the resource that a CRD-like object defines, as the question whether one may watch it.
func watchAttributes(u *unstructured.Unstructured) authorizationv1.ResourceAttributes {
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(u.Object, "spec", "names", "plural")
	return authorizationv1.ResourceAttributes{Verb: "watch", Group: group, Resource: plural}
}

func (c *ControlPlane) waitForPermission(ctx context.Context, account string, r authorizationv1.ResourceAttributes) error {
	err := process.PollUntil(ctx, func(ctx context.Context) (bool, error) { return c.isAccessAllowed(ctx, account, r) })
	return errors.Wrapf(err, "cannot see service account %s watch %s", account, strings.Join([]string{r.Resource, r.Group}, "."))
}

func (c *ControlPlane) isAccessAllowed(ctx context.Context, account string, r authorizationv1.ResourceAttributes) (bool, error) {
	sar := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + Namespace + ":" + account, ResourceAttributes: &r,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + Namespace, "system:authenticated"},
	}}
	err := c.Client.Create(ctx, sar)
	return sar.Status.Allowed, errors.Wrap(err, "cannot review access")
}
