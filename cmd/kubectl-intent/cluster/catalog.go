package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

// A Catalog is the usable catalog of the namespace, as far as the user may know.
type Catalog struct {
	Sites      []catalogview.Site
	Blueprints []catalogview.Blueprint

	// Published is the ConfigMap that it was read from, as NAMESPACE/NAME, for a user who may not list the objects. Empty means that it was not.
	Published string

	// Omitted is how many more the namespace may use, for which the ConfigMap has no room.
	Omitted int

	// Unread names the unreadable objects. Unless something is published, the names that deployments of the namespace use stand for it.
	Unread []cause.Unread
}

// Sites returns the Sites that the namespace may use. For a user who may not list Sites it returns the Sites that the provider publishes in
// the namespace, and where it does not, the names of Sites that deployments of the namespace use. It returns an error when none of that can
// be read.
func (c *Cluster) Sites(ctx context.Context) (*Catalog, error) {
	all, err := listCatalog[catalogv1alpha1.Site](ctx, c, "sites")
	if kerrors.IsForbidden(err) {
		return c.publishedCatalog(ctx, "sites", err)
	}
	if err != nil {
		return nil, err
	}
	out := &Catalog{}
	for i := range all {
		if policy.CheckSite(&all[i], c.namespace) == nil {
			out.Sites = append(out.Sites, catalogview.ForSite(&all[i]))
		}
	}
	return out, nil
}

// Blueprints returns all Blueprints, which each namespace may use. For a user who may not list them it returns the Blueprints that the
// provider publishes in the namespace, and where it does not, the names of Blueprints that deployments of the namespace use. It returns an
// error when none of that can be read.
func (c *Cluster) Blueprints(ctx context.Context) (*Catalog, error) {
	all, err := listCatalog[catalogv1alpha1.Blueprint](ctx, c, "blueprints")
	if kerrors.IsForbidden(err) {
		return c.publishedCatalog(ctx, "blueprints", err)
	}
	out := &Catalog{}
	for i := range all {
		out.Blueprints = append(out.Blueprints, catalogview.ForBlueprint(&all[i]))
	}
	return out, err
}

func configMapsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

// publishedCatalog returns the catalog that the provider publishes in the namespace of a resource that the user may not list, or else the
// used catalog.
func (c *Cluster) publishedCatalog(ctx context.Context, resource string, failure error) (*Catalog, error) {
	o, err := c.api.Resource(configMapsResource()).Namespace(c.namespace).Get(ctx, catalogview.ConfigMapName, metav1.GetOptions{})
	if err != nil {
		return c.usedCatalog(ctx, resource, failure) // It is not published, or the user may not read that either.
	}
	documents, _, err := unstructured.NestedStringMap(o.Object, "data")
	out := &Catalog{Published: c.namespace + "/" + catalogview.ConfigMapName, Unread: []cause.Unread{describeUnread(failure, catalogResource(resource))}}
	if err != nil || !out.takeDocument(resource, documents) {
		return c.usedCatalog(ctx, resource, failure) // The provider has not written it yet.
	}
	return out, nil
}

// takeDocument reads the document about a resource, and reports whether there is one.
func (c *Catalog) takeDocument(resource string, documents map[string]string) bool {
	if resource == "sites" {
		l, err := catalogview.Decode[catalogview.Site](documents[catalogview.KeySites])
		c.Sites, c.Omitted = l.Items, l.Omitted
		return err == nil
	}
	l, err := catalogview.Decode[catalogview.Blueprint](documents[catalogview.KeyBlueprints])
	c.Blueprints, c.Omitted = l.Items, l.Omitted
	return err == nil
}

func catalogResource(resource string) schema.GroupVersionResource {
	return catalogv1alpha1.GroupVersion.WithResource(resource)
}

// listCatalog lists the objects of a kind that are in no namespace.
func listCatalog[T any](ctx context.Context, c *Cluster, resource string) ([]T, error) {
	items, err := c.api.List(ctx, catalogResource(resource), "")
	if err != nil {
		return nil, server.DescribeError(err, "list", catalogResource(resource), "")
	}
	out := make([]T, len(items))
	for i := range items {
		if err := server.Decode(&items[i], &out[i]); err != nil {
			return nil, errors.Wrap(err, items[i].GetName())
		}
	}
	return out, nil
}

// usedCatalog returns the names of the Sites or Blueprints that the deployments of the namespace use.
func (c *Cluster) usedCatalog(ctx context.Context, resource string, failure error) (*Catalog, error) {
	found, err := c.All(ctx, c.namespace)
	if err != nil {
		return nil, err
	}
	out := &Catalog{Unread: []cause.Unread{describeUnread(failure, catalogResource(resource))}}
	sites, blueprints := map[string]bool{}, map[string]bool{}
	for _, f := range found.AllDeployments() {
		for name := range f.Deployment.Status.Delivery.Sites {
			sites[name] = true
		}
		if name := f.Deployment.Status.Blueprint.Name; name != "" {
			blueprints[name] = true
		}
	}
	if resource == "sites" {
		for _, name := range slices.Sorted(maps.Keys(sites)) {
			out.Sites = append(out.Sites, catalogview.Site{Name: name})
		}
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(blueprints)) {
		out.Blueprints = append(out.Blueprints, catalogview.Blueprint{Object: name})
	}
	return out, nil
}
