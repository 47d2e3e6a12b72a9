package sitehealth

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/workload"
)

// A routeNote is the last list of the routes of a Site that was read from the API server itself. A watch may be behind the watch of the engine's object, which
// proves that the Site runs a revision. So routes are listed once for each proven tree, and watched routes count from the listed generations on.
type routeNote struct {
	// proven is the delivery that was proven before the list.
	proven delivery
	// generations of the listed routes, by name and UID.
	generations map[string]int64
}

// restoreRevision takes the revision of the routes from the status, which outlives the provider.
func (n *routeNote) restoreRevision(o v1alpha1.SiteHealthObservation, site string) {
	i := slices.IndexFunc(o.Sites, func(s v1alpha1.SiteHealthState) bool { return s.Name == site })
	if n.proven.revision == 0 && i >= 0 && o.Sites[i].Route != nil {
		n.proven.revision = ptr.Deref(o.Sites[i].Route.Revision, 0)
	}
}

// isNewerThan reports whether the list has a route that the watch does not have, or has at a lower generation.
func (n *routeNote) isNewerThan(watched []*unstructured.Unstructured) bool {
	found := map[string]int64{}
	for _, u := range watched {
		found[routeIdentity(u)] = u.GetGeneration()
	}
	for key, generation := range n.generations {
		if g, ok := found[key]; !ok || g < generation {
			return true
		}
	}
	return false
}

func routeIdentity(u *unstructured.Unstructured) string {
	return u.GetName() + "/" + string(u.GetUID())
}

// namespaceRoutesRef returns the HTTPRoutes of a namespace.
func namespaceRoutesRef(namespace string) engines.Ref {
	return setup.NamespacedRef(track.GatewayGroup, "httproutes", "HTTPRoute", namespace)
}

// readRouteHealth reads the HTTPRoutes of the claim, all of which have to be accepted, after a delivery was proven.
func (f facts) readRouteHealth(ctx context.Context, c *clusters.Cluster, n *routeNote, proven delivery) *v1alpha1.RouteHealth {
	h := f.judgeRoutes(ctx, c, n, proven)
	h.Revision = new(n.proven.revision)
	return &h
}

// judgeRoutes judges the watched routes, or the routes at the API server where the watch may be behind.
func (f facts) judgeRoutes(ctx context.Context, c *clusters.Cluster, n *routeNote, proven delivery) v1alpha1.RouteHealth {
	watched, err := c.Select(ctx, namespaceRoutesRef(f.namespace), f.belongsToClaim)
	if err != nil {
		return f.explainUnreadRoutes(err)
	}
	if proven.revision > 0 && proven != n.proven || n.isNewerThan(watched) {
		return f.listClaimRoutes(ctx, c, n, proven)
	}
	v := routeVerdict{}
	for _, u := range watched {
		v.addClaimRoute(u)
	}
	return v.concludeRoutes()
}

// listClaimRoutes lists the routes at the API server, and records their generations.
func (f facts) listClaimRoutes(ctx context.Context, c *clusters.Cluster, n *routeNote, proven delivery) v1alpha1.RouteHealth {
	v, generations := routeVerdict{}, map[string]int64{}
	selector := labels.Set{setup.LabelClaim: f.spec.ClaimRef.Name}.String()
	err := c.EachListed(ctx, namespaceRoutesRef(f.namespace).Resource, f.namespace, selector, func(listed []unstructured.Unstructured) {
		for i := range listed {
			v.addClaimRoute(&listed[i])
			generations[routeIdentity(&listed[i])] = listed[i].GetGeneration()
		}
	})
	if err != nil {
		return f.explainUnreadRoutes(err)
	}
	n.generations = generations
	if proven.revision > 0 {
		n.proven = proven
	}
	return v.concludeRoutes()
}

// A routeVerdict judges routes one by one.
type routeVerdict struct {
	hasRoutes       bool
	reason, message string
}

// addClaimRoute adds a route. The first route that is not accepted gives the reason.
func (v *routeVerdict) addClaimRoute(u *unstructured.Unstructured) {
	v.hasRoutes = true
	if v.reason == "" {
		v.reason, v.message = gatewayapi.RouteAcceptance(u)
	}
}

func (v *routeVerdict) concludeRoutes() v1alpha1.RouteHealth {
	if !v.hasRoutes {
		return v1alpha1.RouteHealth{Reason: gatewayapi.ReasonRouteMissing, Message: "no HTTPRoute has the label " + setup.LabelClaim}
	}
	return v1alpha1.RouteHealth{Accepted: v.reason == "", Reason: v.reason, Message: oneline.Cut(v.message, maxMessage)}
}

// explainUnreadRoutes returns the reason why routes cannot be read.
func (f facts) explainUnreadRoutes(err error) v1alpha1.RouteHealth {
	var unread *clusters.Error
	switch {
	case errors.As(err, &unread) && unread.Reason == v1alpha1.SiteReasonEngineNotInstalled:
		return v1alpha1.RouteHealth{Reason: gatewayapi.ReasonRouteMissing, Message: "the cluster does not serve HTTPRoutes"}
	case errors.As(err, &unread):
		return v1alpha1.RouteHealth{Reason: unread.Reason, Message: setup.ExplainUnread(unread, "HTTPRoutes", f.namespace)}
	}
	return v1alpha1.RouteHealth{Reason: v1alpha1.SiteReasonClusterUnreachable, Message: "the HTTPRoutes cannot be read"}
}

func (f facts) belongsToClaim(u *unstructured.Unstructured) bool {
	return workload.LabelOf(u, setup.LabelClaim) == f.spec.ClaimRef.Name
}
