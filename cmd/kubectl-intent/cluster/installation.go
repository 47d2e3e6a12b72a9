package cluster

import (
	"context"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/product"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

// leaseName is the name of the provider's lease, if it runs with leader election.
const leaseName = "intentplane-provider"

// ReadInstallation reads the parts of the installation that run the found Bundles, Applications, deployments and clusters. Unreadable objects
// are noted with each of them.
func (c *Cluster) ReadInstallation(ctx context.Context, subjects *Subjects) {
	i := &installation{Cluster: c}
	i.readSharedParts(ctx)
	for _, f := range subjects.Bundles {
		i.readBundle(ctx, f)
		f.Unread = append(f.Unread, i.unread...)
	}
	for _, f := range subjects.Applications {
		i.readApplicationRoot(ctx, f)
		f.Unread = append(f.Unread, i.unread...)
	}
	for _, f := range subjects.Deployments {
		i.readDeployment(ctx, f)
		f.Unread = append(f.Unread, i.unread...)
	}
	for _, f := range subjects.Clusters {
		f.Installed = i.installedForRoot(ctx, f.Cluster.APIVersion, clusterResource, f.Cluster.Spec.ResourceRef)
		f.Unread = append(f.Unread, i.unread...)
	}
}

// readBundle reads the installed parts that run a Bundle, and its blocking package.
func (i *installation) readBundle(ctx context.Context, f *cause.BundleFacts) {
	missing := f.Installed.Missing
	f.Installed = i.installedForRoot(ctx, f.Bundle.APIVersion, bundleResource, f.Bundle.Spec.ResourceRef)
	f.Installed.Missing = missing
	if f.Application != nil {
		i.readApplicationRoot(ctx, f.Application)
	}
	if f.Deployment != nil {
		i.readDeployment(ctx, f.Deployment)
	}
}

// readApplicationRoot reads the installed parts that run an Application, and its deployment.
func (i *installation) readApplicationRoot(ctx context.Context, f *cause.ApplicationFacts) {
	missing := f.Installed.Missing
	f.Installed = i.installedForRoot(ctx, f.Application.APIVersion, applicationResource, f.Application.Spec.ResourceRef)
	f.Installed.Missing = missing
	if f.Deployment != nil {
		i.readDeployment(ctx, f.Deployment)
	}
}

// readDeployment reads the installed parts that run a deployment.
func (i *installation) readDeployment(ctx context.Context, f *cause.Facts) {
	missing := f.Installed.Missing
	f.Installed = i.installedForRoot(ctx, f.Deployment.APIVersion, claimResource, f.Deployment.Spec.ResourceRef)
	f.Installed.Missing = missing
}

// An installation has the observed objects of Crossplane and of our packages.
type installation struct {
	*Cluster

	shared cause.Installed
	unread []cause.Unread
}

// noteUnread remembers once that something could not be read.
func (i *installation) noteUnread(err error, r schema.GroupVersionResource) {
	if u := describeUnread(err, r); !slices.Contains(i.unread, u) {
		i.unread = append(i.unread, u)
	}
}

// readSharedParts reads the packages and the lease of the provider, which are the same for all.
func (i *installation) readSharedParts(ctx context.Context) {
	i.shared.Providers = i.readPackages(ctx, "providers")
	i.shared.Functions = i.readPackages(ctx, "functions")
	leases := coordinationv1.SchemeGroupVersion.WithResource("leases")
	o, err := i.api.Get(ctx, leases, product.Namespace, leaseName)
	lease := &coordinationv1.Lease{}
	if err == nil {
		err = server.Decode(o, lease)
	}
	if err != nil && !server.IsNotFound(err) {
		i.noteUnread(err, leases)
	}
	i.shared.Renewed = lease.Spec.RenewTime
}

// readPackages reads our packages of a kind.
func (i *installation) readPackages(ctx context.Context, resource string) []cause.Object {
	r := product.Packages(resource)
	items, err := i.api.List(ctx, r, "")
	if err != nil {
		i.noteUnread(err, r)
		return nil
	}
	var out []cause.Object
	for j := range items {
		if !product.IsPackage(&items[j]) {
			continue
		}
		o := cause.Object{}
		if err := server.Decode(&items[j], &o); err == nil {
			out = append(out, o)
		}
	}
	return out
}

// installedForRoot reads the objects of one deployment or cluster alone: its definition, and the composite of a claim.
func (i *installation) installedForRoot(ctx context.Context, apiVersion, resource string, composite cause.Reference) cause.Installed {
	out := i.shared
	gv, _ := schema.ParseGroupVersion(apiVersion)
	name := resource + "." + gv.Group
	if composite.Kind != "" {
		name = "x" + name
	}
	if o := i.readClusterScoped(ctx, product.Definitions(), name); o != nil {
		out.Definitions = []cause.Object{*o}
	}
	if composite.Kind != "" {
		r, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(composite.APIVersion, composite.Kind))
		out.Composite = i.readClusterScoped(ctx, r, composite.Name)
	}
	return out
}

// readClusterScoped reads an object that is in no namespace. It is nil if that does not exist, or cannot be read.
func (i *installation) readClusterScoped(ctx context.Context, r schema.GroupVersionResource, name string) *cause.Object {
	u, err := i.api.Get(ctx, r, "", name)
	o := &cause.Object{}
	if err == nil {
		err = server.Decode(u, o)
	}
	switch {
	case err == nil:
		return o
	case !server.IsNotFound(err):
		i.noteUnread(err, r)
	}
	return nil
}
