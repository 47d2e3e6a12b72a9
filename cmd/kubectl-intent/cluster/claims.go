package cluster

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

const (
	claimResource = "intentdeployments"

	groupClaims     = "claims.intentplane.dev"
	groupNamespaced = "intentplane.dev"
)

// claimGroups are the groups that an IntentDeployment is served in, whichever are installed.
func claimGroups() []string { return []string{groupClaims, groupNamespaced} }

func claimsInGroup(group string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: claimResource}
}

// Claim returns an IntentDeployment as JSON: "shop", or "intentdeployments.intentplane.dev/shop" where both groups have a deployment of that
// name, or "applications/shop" for the deployment that an Application composed. It returns an error when there is none, and when there are
// two.
func (c *Cluster) Claim(ctx context.Context, name string) ([]byte, error) {
	groups := claimGroups()
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		name, groups = rest, groupsOfKind(kind)
	}
	found, err := c.findDeployments(ctx, name, groups)
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, errors.Errorf("namespace %q has no IntentDeployment %q", c.namespace, name)
	case 1:
		return found[0].MarshalJSON()
	}
	return nil, errors.Errorf("namespace %q has two IntentDeployments %q: say %s.%s/%[2]s or %[3]s.%[5]s/%[2]s", c.namespace, name, claimResource, groups[0], groups[1])
}

// groupsOfKind returns the groups of the deployments that a user names by a kind. An Application of either group composes a namespaced one.
func groupsOfKind(kind string) []string {
	resource, group, _ := strings.Cut(kind, ".")
	switch {
	case strings.HasPrefix(resource, "application"):
		return []string{groupNamespaced}
	case group != "":
		return []string{group}
	}
	return claimGroups()
}

// findDeployments looks into each group. A group that is not installed has none, but one must be.
func (c *Cluster) findDeployments(ctx context.Context, name string, groups []string) ([]*unstructured.Unstructured, error) {
	out := []*unstructured.Unstructured{}
	var missing error
	unservedGroups := 0
	for _, g := range groups {
		o, err := c.api.Resource(claimsInGroup(g)).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			out = append(out, o)
		case server.IsUnknownKind(err):
			missing = server.DescribeError(err, "get", claimsInGroup(g), name)
			unservedGroups++
		case !server.IsNotFound(err):
			return nil, server.DescribeError(err, "get", claimsInGroup(g), name)
		}
	}
	if unservedGroups == len(groups) {
		return nil, missing
	}
	return out, nil
}

// ClaimNames returns the names of all IntentDeployments, sorted. Unreadable ones are left out: it is for completion.
func (c *Cluster) ClaimNames(ctx context.Context) []string {
	return c.listObjectNames(ctx, claimsInGroup)
}

// BundleNames returns the names of all Bundles, as ClaimNames does.
func (c *Cluster) BundleNames(ctx context.Context) []string {
	return c.listObjectNames(ctx, bundlesInGroup)
}

// SubjectNames returns the names of all Bundles, Applications, IntentDeployments and WorkloadClusters, as ClaimNames does.
func (c *Cluster) SubjectNames(ctx context.Context) []string {
	return c.listObjectNames(ctx, applicationsInGroup, claimsInGroup, clustersInGroup, bundlesInGroup)
}

// listObjectNames returns the names of all objects of kinds, in both groups, each once and sorted.
func (c *Cluster) listObjectNames(ctx context.Context, kinds ...func(group string) schema.GroupVersionResource) []string {
	out := []string{}
	for _, in := range kinds {
		for _, g := range claimGroups() {
			list, err := c.api.Resource(in(g)).Namespace(c.namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for _, o := range list.Items {
				out = append(out, o.GetName())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
