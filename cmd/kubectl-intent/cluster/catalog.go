package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Catalog is what the namespace may use, as far as the user may know.
type Catalog struct {
	Sites      []catalogv1alpha1.Site
	Blueprints []catalogv1alpha1.Blueprint

	// Unread is what could not be read. The names that deployments of the namespace use stand for it.
	Unread []cause.Unread
}

// Sites returns the Sites that the namespace may use. For a user who may not list Sites it returns those that deployments of the namespace use, by their
// names alone. It returns an error when neither can be read.
func (c *Cluster) Sites(ctx context.Context) (*Catalog, error) {
	all, err := listCatalog[catalogv1alpha1.Site](ctx, c, "sites")
	if kerrors.IsForbidden(err) {
		return c.usedCatalog(ctx, "sites", err)
	}
	if err != nil {
		return nil, err
	}
	out := &Catalog{}
	for i := range all {
		if policy.CheckSite(&all[i], c.namespace) == nil {
			out.Sites = append(out.Sites, all[i])
		}
	}
	return out, nil
}

// Blueprints returns all Blueprints, which each namespace may use. For a user who may not list them it returns those that deployments of the namespace use, by
// their names alone. It returns an error when neither can be read.
func (c *Cluster) Blueprints(ctx context.Context) (*Catalog, error) {
	all, err := listCatalog[catalogv1alpha1.Blueprint](ctx, c, "blueprints")
	if kerrors.IsForbidden(err) {
		return c.usedCatalog(ctx, "blueprints", err)
	}
	return &Catalog{Blueprints: all}, err
}

func catalogResource(resource string) schema.GroupVersionResource {
	return catalogv1alpha1.GroupVersion.WithResource(resource)
}

// listCatalog lists the objects of a kind that are in no namespace.
func listCatalog[T any](ctx context.Context, c *Cluster, resource string) ([]T, error) {
	items, err := c.list(ctx, catalogResource(resource), "", nil)
	if err != nil {
		return nil, describeError(err, "list", catalogResource(resource), "")
	}
	out := make([]T, len(items))
	for i := range items {
		if err := decodeObject(&items[i], &out[i]); err != nil {
			return nil, errors.Wrap(err, items[i].GetName())
		}
	}
	return out, nil
}

// usedCatalog returns what the deployments of the namespace use.
func (c *Cluster) usedCatalog(ctx context.Context, resource string, why error) (*Catalog, error) {
	found, err := c.All(ctx, c.namespace)
	if err != nil {
		return nil, err
	}
	out := &Catalog{Unread: []cause.Unread{describeUnread(why, catalogResource(resource))}}
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
		out.Sites = namedObjects(sites, func(s *catalogv1alpha1.Site, name string) { s.Name = name })
		return out, nil
	}
	out.Blueprints = namedObjects(blueprints, func(b *catalogv1alpha1.Blueprint, name string) { b.Name = name })
	return out, nil
}

// namedObjects returns objects of which nothing but the name is known, sorted.
func namedObjects[T any](names map[string]bool, setName func(*T, string)) []T {
	var out []T
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var o T
		setName(&o, name)
		out = append(out, o)
	}
	return out
}
