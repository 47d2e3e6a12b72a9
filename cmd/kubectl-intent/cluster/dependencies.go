package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/product"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

// labelClaimNamespace is the label of a composite with the namespace of its claim. Crossplane gives it.
const labelClaimNamespace = "crossplane.io/claim-namespace"

// Beneath has the dependencies of Bundles, Applications, deployments and clusters, as far as they could be read.
type Beneath struct {
	// Packages and Definitions of Intentplane.
	Packages, Definitions []cause.Object

	// Unread names the unreadable objects.
	Unread []cause.Unread
}

// ReadBeneath reads the packages, the definitions and the composites of claims, with one request for each of their kinds, and gives each
// subject its dependencies. Unreadable objects are noted.
func (c *Cluster) ReadBeneath(ctx context.Context, subjects *Subjects, namespace string) {
	readBeneath(ctx, c.api, subjects, namespace)
}

// A beneathList has the objects of one kind.
type beneathList struct {
	resource schema.GroupVersionResource
	with     labels.Set
	isWanted func(*unstructured.Unstructured) bool

	items []cause.Object
	err   error
}

// packageResources are the kinds of Crossplane's packages.
func packageResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{product.Packages("functions"), product.Packages("providers"), product.Packages("configurations")}
}

// readBeneath reads all kinds at the same time.
func readBeneath(ctx context.Context, from server.Source, subjects *Subjects, namespace string) {
	var lists []*beneathList
	for _, r := range packageResources() {
		lists = append(lists, &beneathList{resource: r, isWanted: product.IsPackage})
	}
	lists = append(lists, &beneathList{resource: product.Definitions(), isWanted: product.HasGroup})
	for _, r := range subjects.compositeResources() {
		lists = append(lists, &beneathList{resource: r, with: claimsOfNamespace(namespace), isWanted: isComposite})
	}
	var tasks []server.Task
	for _, l := range lists {
		tasks = append(tasks, func(ctx context.Context) { l.readListItems(ctx, from) })
	}
	server.RunTasks(ctx, tasks...)
	subjects.takeBeneath(lists)
}

// isComposite is true for each object of a kind of composites.
func isComposite(*unstructured.Unstructured) bool { return true }

// claimsOfNamespace are the labels of the composites whose claims are in a namespace.
func claimsOfNamespace(namespace string) labels.Set {
	if namespace == AllNamespaces {
		return nil
	}
	return labels.Set{labelClaimNamespace: namespace}
}

// readListItems lists the objects.
func (l *beneathList) readListItems(ctx context.Context, from server.Source) {
	l.err = from.VisitPages(ctx, l.resource, AllNamespaces, l.with, func(page []unstructured.Unstructured) {
		for i := range page {
			o := cause.Object{}
			if l.isWanted(&page[i]) && server.Decode(&page[i], &o) == nil {
				l.items = append(l.items, o)
			}
		}
	})
}

// compositeResources are the kinds of the composites of claims, each once.
func (s *Subjects) compositeResources() []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	s.visitSubjectRoots(func(r subjectRoot) {
		if resource := resourceOfReference(r.composite); r.composite.Kind != "" && !slices.Contains(out, resource) {
			out = append(out, resource)
		}
	})
	return out
}

func resourceOfReference(ref cause.Reference) schema.GroupVersionResource {
	out, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	return out
}

// A subjectRoot is the part of a user's object that concerns its installation.
type subjectRoot struct {
	apiVersion, resource string
	composite            cause.Reference
	installed            *cause.Installed
}

// definitionName returns the name of the definition of the object, or of its composite.
func (r subjectRoot) definitionName() string {
	gv, _ := schema.ParseGroupVersion(r.apiVersion)
	name := r.resource + "." + gv.Group
	if r.composite.Kind != "" {
		return "x" + name
	}
	return name
}

// visitSubjectRoots shows each object that was found, and the deployments of Applications.
func (s *Subjects) visitSubjectRoots(show func(subjectRoot)) {
	for _, f := range s.Bundles {
		show(subjectRoot{f.Bundle.APIVersion, bundleResource, f.Bundle.Spec.ResourceRef, &f.Installed})
	}
	for _, f := range s.Applications {
		show(subjectRoot{f.Application.APIVersion, applicationResource, f.Application.Spec.ResourceRef, &f.Installed})
	}
	for _, f := range s.AllDeployments() {
		show(subjectRoot{f.Deployment.APIVersion, claimResource, f.Deployment.Spec.ResourceRef, &f.Installed})
	}
	for _, f := range s.Clusters {
		show(subjectRoot{f.Cluster.APIVersion, clusterResource, f.Cluster.Spec.ResourceRef, &f.Installed})
	}
}

// takeBeneath gives each object that was found the parts that it depends on.
func (s *Subjects) takeBeneath(lists []*beneathList) {
	byResource, composites := map[schema.GroupVersionResource][]cause.Object{}, map[schema.GroupVersionResource]map[string]*cause.Object{}
	for _, l := range lists {
		byResource[l.resource] = l.items
		composites[l.resource] = indexByName(l.items)
		if l.err != nil {
			s.noteFailure(l.resource, l.err)
		}
	}
	s.Beneath.Definitions = byResource[product.Definitions()]
	for _, r := range packageResources() {
		s.Beneath.Packages = append(s.Beneath.Packages, byResource[r]...)
	}
	s.visitSubjectRoots(func(r subjectRoot) {
		r.installed.Functions, r.installed.Providers = byResource[packageResources()[0]], byResource[packageResources()[1]]
		if d := composites[product.Definitions()][r.definitionName()]; d != nil {
			r.installed.Definitions = []cause.Object{*d}
		}
		r.installed.Composite = composites[resourceOfReference(r.composite)][r.composite.Name]
	})
}

func indexByName(all []cause.Object) map[string]*cause.Object {
	out := map[string]*cause.Object{}
	for i := range all {
		out[all[i].Metadata.Name] = &all[i]
	}
	return out
}

// beneathResources are all kinds that ReadBeneath may read, for watches.
func beneathResources() []schema.GroupVersionResource {
	out := append(packageResources(), product.Definitions())
	for _, r := range subjectResources(groupClaims) {
		r.Resource = "x" + r.Resource
		out = append(out, r)
	}
	return out
}

// ReadBeneath does the same as Cluster.ReadBeneath. It does nothing unless the mirror was made with MirrorBeneath.
func (m *Mirror) ReadBeneath(ctx context.Context, subjects *Subjects) {
	readBeneath(ctx, m.watches, subjects, m.namespace)
}
