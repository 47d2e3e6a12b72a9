package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/function/application"
)

const applicationResource = "applications"

func applicationsInGroup(group string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: applicationResource}
}

func healthsResource() schema.GroupVersionResource {
	return deliveryv1alpha1.GroupVersion.WithResource("sitehealths")
}

// A ComposedApplication is an Application with its composed objects.
type ComposedApplication struct {
	// Application and its Deployment, as JSON. Deployment is nil if there is none, or it cannot be read.
	Application, Deployment []byte

	// Commit that its ImageBuild looked for last. Empty if it has none, and if it cannot be read.
	Commit string
}

// Application returns an Application and its deployment: "shop", or "applications.intentplane.dev/shop" where both groups have one of that name. It is nil if
// there is none, if the name says that it is of another kind, and if the user may not read Applications. It returns an error when there are two.
func (c *Cluster) Application(ctx context.Context, name string) (*ComposedApplication, error) {
	l := parseLookupName(name)
	var found []*unstructured.Unstructured
	for _, resource := range l.resources {
		if resource.Resource != applicationResource {
			continue
		}
		o, err := c.api.Get(ctx, resource, c.namespace, l.name)
		switch {
		case err == nil:
			found = append(found, o)
		case !server.IsAbsent(err):
			return nil, server.DescribeError(err, "get", resource, l.name)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // None is an answer.
	case 1:
		return c.applicationParts(ctx, found[0])
	}
	return nil, errors.Errorf("namespace %q has two Applications %q: say applications.GROUP/%[2]s", c.namespace, l.name)
}

// applicationParts returns the parts of an Application: its deployment, and the commit of its source.
func (c *Cluster) applicationParts(ctx context.Context, o *unstructured.Unstructured) (*ComposedApplication, error) {
	out := &ComposedApplication{}
	if _, isBuilt, _ := unstructured.NestedMap(o.Object, "spec", "source"); isBuilt {
		if b, err := c.ImageBuild(ctx, o.GroupVersionKind().Group, o.GetName()); err == nil {
			out.Commit = b.Status.AtProvider.Wanted.Commit
		}
	}
	var err error
	if out.Application, err = o.MarshalJSON(); err != nil {
		return nil, err
	}
	d, err := c.api.Get(ctx, claimsInGroup(deploymentv1alpha1.GroupNamespaced), c.namespace, o.GetName())
	switch {
	case server.IsAbsent(err):
		return out, nil
	case err != nil:
		return nil, server.DescribeError(err, "get", claimsInGroup(deploymentv1alpha1.GroupNamespaced), o.GetName())
	case applicationOf(d) == o.GetName():
		out.Deployment, err = d.MarshalJSON()
	}
	return out, err
}

func applicationFacts(o server.Object) (*cause.ApplicationFacts, error) {
	f := &cause.ApplicationFacts{}
	var err error
	f.SpecDigest, err = decodeWithDigest(o, &f.Application, func() (string, error) { return digest.Application(&f.Application.Spec.ApplicationSpec) })
	return f, err
}

// readApplication reads the composed objects of an Application, and of its deployment. Unreadable objects are noted.
func (r reader) readApplication(ctx context.Context, f *cause.ApplicationFacts) {
	deployments := claimsInGroup(deploymentv1alpha1.GroupNamespaced)
	if o := r.readApplicationPart(ctx, f, deployments, cmp.Or(f.Application.Status.Deployment.Name, f.Application.Metadata.Name)); o != nil && applicationOf(o) == f.Application.Metadata.Name {
		d, err := deploymentFacts(server.Decoded(o))
		if err != nil {
			f.Unread = append(f.Unread, describeUnread(err, deployments))
			return
		}
		r.readComposed(ctx, d)
		f.Deployment = d
	}
	h := &deliveryv1alpha1.SiteHealth{}
	if o := r.readApplicationPart(ctx, f, healthsResource(), f.Application.Metadata.Name); o != nil && server.Decode(o, h) == nil {
		f.Health = h
	}
}

// readApplicationPart reads an object that an Application composed. It is nil if that does not exist, or cannot be read.
func (r reader) readApplicationPart(ctx context.Context, f *cause.ApplicationFacts, resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	o, err := r.Get(ctx, resource, f.Application.Metadata.Namespace, name)
	noteUnreadPart(err, resource, &f.Installed, &f.Unread)
	return o
}

// noteUnreadPart remembers why a part of an object could not be read, unless it does not exist.
func noteUnreadPart(err error, resource schema.GroupVersionResource, installed *cause.Installed, unread *[]cause.Unread) {
	switch {
	case server.IsUnknownKind(err):
		installed.Missing = append(installed.Missing, resource.GroupResource().String())
	case err != nil && !server.IsNotFound(err):
		*unread = append(*unread, describeUnread(err, resource))
	}
}

// applicationOf a deployment is the name of the Application that composed it, or "".
func applicationOf(o *unstructured.Unstructured) string {
	return o.GetLabels()[application.LabelApplication]
}

// nestDeployments gives each Application the deployment that it composed, which is not shown beside it.
func (s *Subjects) nestDeployments() {
	for _, a := range s.Applications {
		isOwn := func(f *cause.Facts) bool { return isComposedFor(&a.Application, &f.Deployment) }
		if i := slices.IndexFunc(s.Deployments, isOwn); i >= 0 {
			a.Deployment = s.Deployments[i]
			s.Deployments = slices.Delete(s.Deployments, i, i+1)
		}
	}
}

func isComposedFor(a *cause.Application, d *cause.Deployment) bool {
	gv, _ := schema.ParseGroupVersion(d.APIVersion)
	return gv.Group == deploymentv1alpha1.GroupNamespaced && d.Metadata.Namespace == a.Metadata.Namespace && d.Metadata.Labels[application.LabelApplication] == a.Metadata.Name
}

// AllDeployments returns the deployments that were found, and the deployments that Applications composed.
func (s *Subjects) AllDeployments() []*cause.Facts {
	out := slices.Clone(s.Deployments)
	for _, a := range s.Applications {
		if a.Deployment != nil {
			out = append(out, a.Deployment)
		}
	}
	return out
}
