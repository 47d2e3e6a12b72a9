package sitesync

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/proof"
	"github.com/intentplane/intentplane/provider/workload"
)

// readTraffic reads the routes and the workloads of a Site from its own cluster, wherever its engine is. It returns an error if our own API server
// does not answer.
func (e *external) readTraffic(ctx context.Context, f proof.Facts, want v1alpha1.SiteTree, s proof.SiteFacts, r *reading) (*proof.TrafficFacts, *workload.FinalFailure, error) {
	out := &proof.TrafficFacts{Workloads: map[string]*proof.Problem{}}
	c, p, err := e.connectTarget(ctx, s.Site)
	if out.Routes = p; err != nil || p != nil {
		return out, nil, err
	}
	readTrafficRoutes(ctx, c, want.Traffic.Routes, out)
	for _, t := range want.Traffic.Tracks {
		p := readWorkloads(ctx, c.Get, t.Workloads)
		// Watches of two kinds do not wait for each other: the watch of Deployments may not have received the objects that the engine reports
		// as applied.
		if p == nil && s.Applied.ID == want.Tree && !f.HasProvenPods(want.Name, t) {
			p = readWorkloads(ctx, c.Fetch, t.Workloads)
		}
		out.Workloads[t.Name] = p
	}
	if !s.HasTried(want.Tree) {
		return out, nil, nil
	}
	failure := readTrafficFailure(ctx, c, *want.Traffic, f.PositionStart().Time)
	if failure == nil && (s.HasFailedObject() || proof.TrafficProblem(*want.Traffic, out) != nil) {
		counts := func(u *unstructured.Unstructured) bool { return countsInTracks(*want.Traffic, u) }
		failure, _ = setup.FindFinalFailure(ctx, c, e.failureSearch(ctx, f, want, s, r), counts)
	}
	return out, failure, nil
}

// readTrafficRoutes reads all routes into the facts: a route without proof does not hide the targets of another route.
func readTrafficRoutes(ctx context.Context, c *clusters.Cluster, want []v1alpha1.TrafficRoute, into *proof.TrafficFacts) {
	for _, r := range want {
		found, p := readWatchedObject(ctx, c, routeObjectRef(r))
		if p != nil && p.Reason == v1alpha1.SiteReasonEngineNotInstalled {
			p.Reason = gatewayapi.ReasonRouteMissing // It is the kind of the route that the cluster does not serve.
		}
		if p == nil {
			into.Weighed = append(into.Weighed, gatewayapi.WeighedServices(desiredRoute(r), found)...)
			p = routeProblem(r, found)
		}
		if into.Routes == nil {
			into.Routes = p
		}
	}
}

func routeProblem(want v1alpha1.TrafficRoute, found *unstructured.Unstructured) *proof.Problem {
	if reason, message := gatewayapi.RouteReason(desiredRoute(want), found); reason != "" {
		return &proof.Problem{Reason: reason, Message: message}
	}
	return nil
}

func readWorkloads(ctx context.Context, read objectReader, want []v1alpha1.TrafficWorkload) *proof.Problem {
	for _, w := range want {
		found, p := readClusterObject(ctx, read, workloadRef(w))
		if p != nil {
			return p
		}
		if reason, message := workload.TrackReason(workload.TrackDeployment{Namespace: w.Namespace, Name: w.Name, MinReplicas: w.MinReplicas}, found); reason != "" {
			return &proof.Problem{Reason: reason, Message: message}
		}
	}
	return nil
}

func routeObjectRef(r v1alpha1.TrafficRoute) engines.Ref {
	resource := map[string]string{"HTTPRoute": "httproutes", "GRPCRoute": "grpcroutes"}[r.Kind]
	return engines.Ref{Resource: schema.GroupVersionResource{Group: track.GatewayGroup, Version: "v1", Resource: resource}, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func workloadRef(w v1alpha1.TrafficWorkload) engines.Ref {
	return engines.Ref{Resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Kind: "Deployment", Namespace: w.Namespace, Name: w.Name}
}

// desiredRoute returns a route as the comparison with the cluster wants it.
func desiredRoute(r v1alpha1.TrafficRoute) track.Route {
	out := track.Route{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	for _, b := range r.Backends {
		out.Backends = append(out.Backends, track.Backend{Rule: int(b.Rule), Service: b.Service, Weight: b.Weight})
	}
	return out
}
