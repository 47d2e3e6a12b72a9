package sitesync

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/workload"
)

// defaultDrain is how long a track must get no requests before it is idle.
const defaultDrain = 30 * time.Second

// A trafficFacts is the report of a Site's cluster about its routes and the pods of its tracks.
type trafficFacts struct {
	// routes is why the routes do not prove their weights. Nil if they do.
	routes *problem
	// workloads is why not all pods of a track are available, by the name of the track. Nil if they are.
	workloads map[string]*problem
	// weighed are Services that the cluster gives requests to although Git says that they get none.
	weighed []string
}

// readTraffic reads the routes and the workloads of a Site from its own cluster, wherever its engine is. It returns an error if our own API server
// does not answer.
func (e *external) readTraffic(ctx context.Context, f facts, want v1alpha1.SiteTree, s siteFacts, r *reading) (*trafficFacts, *workload.FinalFailure, error) {
	out := &trafficFacts{workloads: map[string]*problem{}}
	c, p, err := e.connectTarget(ctx, s.site)
	if out.routes = p; err != nil || p != nil {
		return out, nil, err
	}
	out.readRoutes(ctx, c, want.Traffic.Routes)
	for _, t := range want.Traffic.Tracks {
		p := readWorkloads(ctx, c.Get, t.Workloads)
		// Watches of two kinds do not wait for each other: the watch of Deployments may not have received the objects that the engine reports
		// as applied.
		if p == nil && s.applied.id == want.Tree && !arePodsProven(t, f.lastOfSite(want.Name).TrackOf(t.Name)) {
			p = readWorkloads(ctx, c.Fetch, t.Workloads)
		}
		out.workloads[t.Name] = p
	}
	if !s.hasTried(want.Tree) {
		return out, nil, nil
	}
	failure := readTrafficFailure(ctx, c, *want.Traffic, f.positionStart().Time)
	if failure == nil && (s.hasFailedObject() || trafficProblem(*want.Traffic, out) != nil) {
		counts := func(u *unstructured.Unstructured) bool { return countsInTracks(*want.Traffic, u) }
		failure, _ = setup.FindFinalFailure(ctx, c, e.failureSearch(ctx, f, want, s, r), counts)
	}
	return out, failure, nil
}

// readRoutes reads all routes: a route without proof does not hide the targets of another route.
func (t *trafficFacts) readRoutes(ctx context.Context, c *clusters.Cluster, want []v1alpha1.TrafficRoute) {
	for _, r := range want {
		found, p := getObject(ctx, c, routeRef(r))
		if p != nil && p.reason == v1alpha1.SiteReasonEngineNotInstalled {
			p.reason = gatewayapi.ReasonRouteMissing // It is the kind of the route that the cluster does not serve.
		}
		if p == nil {
			t.weighed = append(t.weighed, gatewayapi.WeighedServices(routeInGit(r), found)...)
			p = routeProblem(r, found)
		}
		if t.routes == nil {
			t.routes = p
		}
	}
}

func routeProblem(want v1alpha1.TrafficRoute, found *unstructured.Unstructured) *problem {
	if reason, message := gatewayapi.RouteReason(routeInGit(want), found); reason != "" {
		return &problem{reason: reason, message: message}
	}
	return nil
}

// isWeighed is true for a track whose Service the cluster gives requests to although Git gives it none: another user changed a route.
func (t *trafficFacts) isWeighed(name string) bool {
	return t != nil && slices.ContainsFunc(t.weighed, func(service string) bool { return track.OfService(service) == name })
}

func readWorkloads(ctx context.Context, read objectReader, want []v1alpha1.TrafficWorkload) *problem {
	for _, w := range want {
		found, p := readObject(ctx, read, workloadRef(w))
		if p != nil {
			return p
		}
		if reason, message := workload.TrackReason(workload.TrackDeployment{Namespace: w.Namespace, Name: w.Name, MinReplicas: w.MinReplicas}, found); reason != "" {
			return &problem{reason: reason, message: message}
		}
	}
	return nil
}

func routeRef(r v1alpha1.TrafficRoute) engines.Ref {
	resource := map[string]string{"HTTPRoute": "httproutes", "GRPCRoute": "grpcroutes"}[r.Kind]
	return engines.Ref{Resource: schema.GroupVersionResource{Group: track.GatewayGroup, Version: "v1", Resource: resource}, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func workloadRef(w v1alpha1.TrafficWorkload) engines.Ref {
	return engines.Ref{Resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Kind: "Deployment", Namespace: w.Namespace, Name: w.Name}
}

// routeInGit returns a route as the comparison with the cluster wants it.
func routeInGit(r v1alpha1.TrafficRoute) track.Route {
	out := track.Route{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	for _, b := range r.Backends {
		out.Backends = append(out.Backends, track.Backend{Rule: int(b.Rule), Service: b.Service, Weight: b.Weight})
	}
	return out
}

// judgeTraffic withholds from a Site that it is live until its routes, and the pods that are awaited, follow the tree that its engine runs.
func judgeTraffic(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if o.State != v1alpha1.SiteLive || want.Traffic == nil {
		return o
	}
	if p := trafficProblem(*want.Traffic, s.traffic); p != nil {
		o.State, o.Reason, o.Message = v1alpha1.SiteSyncing, p.reason, p.message
	}
	return o
}

// trafficProblem returns why the routes and the awaited pods of a Site are not as Git has them, or nil.
func trafficProblem(want v1alpha1.SiteTraffic, observed *trafficFacts) *problem {
	if observed == nil {
		return &problem{reason: v1alpha1.SiteReasonProofUnknown, message: "the routes of the Site were not read"}
	}
	if observed.routes != nil {
		return observed.routes
	}
	for _, t := range want.Tracks {
		if p := observed.workloads[t.Name]; t.Awaited && p != nil {
			return p
		}
	}
	return nil
}

// trafficOf returns the observation of the tracks of a Site. It is nil for a Site without tracks.
func (f facts) trafficOf(want v1alpha1.SiteTree, s siteFacts) *v1alpha1.SiteTrafficObservation {
	if want.Traffic == nil {
		return nil
	}
	last, applied := f.lastOfSite(want.Name), f.appliesTraffic(want, s)
	out := &v1alpha1.SiteTrafficObservation{}
	for _, t := range want.Traffic.Tracks {
		previous := last.TrackOf(t.Name)
		if s.traffic.isWeighed(t.Name) {
			previous.ProvenAt, previous.IdleSince = nil, nil // It gets requests, even if the last observation had proof of the contrary.
		}
		o := f.observeWeight(t, previous, applied && s.traffic.routes == nil)
		f.observePods(&o, t, previous, applied && s.traffic.hasPods(t.Name))
		o.Idle = o.IdleSince != nil && !f.now.Before(o.IdleSince.Add(drainDuration(*want.Traffic)))
		out.Tracks = append(out.Tracks, o)
	}
	return out
}

// appliesTraffic is true for a Site whose engine runs the tree, and whose routes and workloads were read: an engine that has not come to the tree
// might still apply an earlier one, with other weights and pods.
func (f facts) appliesTraffic(want v1alpha1.SiteTree, s siteFacts) bool {
	return s.traffic != nil && f.judgeProof(want, s, v1alpha1.SiteObservation{}).State == v1alpha1.SiteLive
}

// hasPods is true if all pods of a track are available.
func (t *trafficFacts) hasPods(track string) bool {
	p, isRead := t.workloads[track]
	return isRead && p == nil
}

// lastOfSite returns the last observation of a Site, for any position.
func (f facts) lastOfSite(name string) v1alpha1.SiteObservation {
	for _, s := range f.before.Sites {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.SiteObservation{}
}

// observeWeight returns the weight that a track is proven to have. A proof that it gets no requests stays over positions, for as long as Git gives it
// none.
func (f facts) observeWeight(want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation, proven bool) v1alpha1.TrackObservation {
	o := v1alpha1.TrackObservation{Name: want.Name, Weight: last.Weight}
	if proven {
		o.Weight = new(want.Weight)
	}
	switch {
	case want.Weight > 0:
	case last.ProvenAt != nil && last.IdleSince != nil && isAfter(*last.ProvenAt, want.WeighedAt):
		o.ProvenAt, o.IdleSince = last.ProvenAt.DeepCopy(), last.IdleSince.DeepCopy()
	case proven && isAfter(f.askedPosition(), want.WeighedAt):
		o.ProvenAt, o.IdleSince = new(f.askedPosition()), f.nowTimestamp()
	}
	return o
}

// isAfter is true for a position after another one, and for each where the other is nil.
func isAfter(p ledger.Position, boundary *ledger.Position) bool {
	return boundary == nil || p.Compare(*boundary) > 0
}

// observePods notes the folder whose pods are available, and the position that proved it. Both stay over positions, until Git changes the folder.
func (f facts) observePods(o *v1alpha1.TrackObservation, want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation, proven bool) {
	switch {
	case want.Tree == "":
	case arePodsProven(want, last):
		o.AvailableTree, o.AvailableAt = last.AvailableTree, last.AvailableAt.DeepCopy()
	case proven && !isBefore(f.askedPosition(), want.ChangedAt):
		o.AvailableTree, o.AvailableAt = want.Tree, new(f.askedPosition())
	}
}

// arePodsProven is true if the pods of the folder that Git has were seen since it changed.
func arePodsProven(want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation) bool {
	return last.AvailableTree == want.Tree && last.AvailableAt != nil && !isBefore(*last.AvailableAt, want.ChangedAt)
}

func isBefore(p ledger.Position, boundary *ledger.Position) bool {
	return boundary != nil && p.Compare(*boundary) < 0
}

// drainDuration returns the drain. The API server has checked its form.
func drainDuration(t v1alpha1.SiteTraffic) time.Duration {
	if d, err := time.ParseDuration(t.Drain); err == nil {
		return d
	}
	return defaultDrain
}

// nextIdleTime returns when the next track of a Site becomes idle by time alone. It is zero if no track does.
func nextIdleTime(want v1alpha1.SiteTree, o v1alpha1.SiteObservation) time.Time {
	next := time.Time{}
	if want.Traffic == nil || o.Traffic == nil {
		return next
	}
	for _, t := range o.Traffic.Tracks {
		if t.IdleSince != nil && !t.Idle {
			next = instant.Earliest(next, t.IdleSince.Add(drainDuration(*want.Traffic)))
		}
	}
	return next
}

// hasSamePods is true for two observations of the pods of a folder by the same proof.
func hasSamePods(a, b v1alpha1.TrackObservation) bool {
	return a.AvailableTree == b.AvailableTree && equality.Semantic.DeepEqual(a.AvailableAt, b.AvailableAt)
}

// isTrackAdvanced is true if a track of a Site became idle, or got its pods: the next change of its pods or its weight waits for that. A
// track that is idle no more must not lose its pods. A step waits for the pods of all of its Sites together, and so only the stages before
// the steps wait for the pods of one Site.
func isTrackAdvanced(previous, next v1alpha1.SiteObservation, requested ledger.Position) bool {
	if next.Traffic == nil {
		return false
	}
	for _, t := range next.Traffic.Tracks {
		last := previous.TrackOf(t.Name)
		hasNewPods := requested.Stage != ledger.StageSteps && t.AvailableTree != "" && !hasSamePods(t, last)
		if t.Idle != last.Idle || hasNewPods {
			return true
		}
	}
	return false
}
