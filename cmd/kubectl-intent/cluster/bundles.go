package cluster

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/function/bundle"
)

const bundleResource = "bundles"

func bundlesInGroup(group string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: bundleResource}
}

func statesResource() schema.GroupVersionResource {
	return statev1alpha1.GroupVersion.WithResource("bundlestates")
}

// Bundle returns a Bundle as JSON: "platform", or "bundles.intentplane.dev/platform" where both groups have one of that name. It is nil if there is none, if a
// deployment has the name and the name does not say which, and if the name says that it is of another kind. It returns an error when there are two.
func (c *Cluster) Bundle(ctx context.Context, name string) ([]byte, error) {
	l := parseLookupName(name)
	var found []*unstructured.Unstructured
	for _, resource := range l.resources {
		if resource.Resource != bundleResource && resource.Resource != claimResource {
			continue
		}
		o, err := c.api.Get(ctx, resource, c.namespace, l.name)
		switch {
		case err == nil && resource.Resource == claimResource:
			return nil, nil
		case err == nil:
			found = append(found, o)
		case !server.IsAbsent(err):
			return nil, server.DescribeError(err, "get", resource, l.name)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0].MarshalJSON()
	}
	return nil, errors.Errorf("namespace %q has two Bundles %q: say bundles.GROUP/%[2]s", c.namespace, l.name)
}

func bundleFacts(o server.Object) (*cause.BundleFacts, error) {
	f := &cause.BundleFacts{}
	var err error
	f.SpecDigest, err = decodeWithDigest(o, &f.Bundle, func() (string, error) { return digest.Bundle(&f.Bundle.Spec.BundleSpec) })
	return f, err
}

// readBundle reads the BundleState of a Bundle, and its blocking package. Unreadable objects are noted.
func (r reader) readBundle(ctx context.Context, f *cause.BundleFacts) {
	group := schema.FromAPIVersionAndKind(f.Bundle.APIVersion, f.Bundle.Kind).Group
	state := &statev1alpha1.BundleState{}
	if o := r.readOfBundle(ctx, f, statesResource(), bundle.StateNameOf(group, f.Bundle.Metadata.Name)); o != nil && server.Decode(o, state) == nil {
		f.State = state
	}
	p := f.BlockingPackage()
	if !cause.IsFollowed(p) {
		return
	}
	if resource := resourceOfPackage(f, p.Name); resource.Resource != "" {
		r.readPackage(ctx, f, resource, p.Name)
	}
}

// readPackage reads the object of a package, and its composed objects.
func (r reader) readPackage(ctx context.Context, f *cause.BundleFacts, resource schema.GroupVersionResource, name string) {
	o := r.readOfBundle(ctx, f, resource, name)
	if o == nil {
		return
	}
	below := &Subjects{}
	if err := r.addWithComposed(ctx, below, resource, server.Decoded(o)); err != nil {
		f.Unread = append(f.Unread, describeUnread(err, resource))
		return
	}
	for _, a := range below.Applications {
		f.Application = a
	}
	for _, d := range below.Deployments {
		f.Deployment = d
	}
}

// resourceOfPackage returns the resource of a package's object. It is empty for a package that left the Bundle.
func resourceOfPackage(f *cause.BundleFacts, name string) schema.GroupVersionResource {
	for _, p := range f.Bundle.Spec.Packages {
		if string(p.Name) != name {
			continue
		}
		group, kind := claimGroups()[1], ""
		switch {
		case p.Application != nil:
			kind = applicationv1alpha1.Kind
		case p.Existing != nil:
			group, kind = p.Existing.Group, p.Existing.Kind
		}
		if kind == applicationv1alpha1.Kind {
			return applicationsInGroup(group)
		}
		return claimsInGroup(group)
	}
	return schema.GroupVersionResource{}
}

// readOfBundle reads an object that belongs to a Bundle. It is nil if that does not exist, or cannot be read.
func (r reader) readOfBundle(ctx context.Context, f *cause.BundleFacts, resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	o, err := r.Get(ctx, resource, f.Bundle.Metadata.Namespace, name)
	noteUnreadPart(err, resource, &f.Installed, &f.Unread)
	return o
}
