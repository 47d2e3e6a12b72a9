package proof

import (
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/instant"
)

// defaultDrain is the time without requests after which a track is idle.
const defaultDrain = 30 * time.Second

// TrafficFacts are the report of a Site's cluster about its routes and the pods of its tracks.
type TrafficFacts struct {
	// Routes is the reason why the routes do not prove their weights. Nil if they do.
	Routes *Problem
	// Workloads are the reasons why pods of a track are missing, by the name of the track. Nil for a track whose pods are available.
	Workloads map[string]*Problem
	// Weighed are Services that the cluster gives requests to although Git gives them none.
	Weighed []string
}

// isTrackWeighed is true for a track whose Service the cluster gives requests to although Git gives it none: another user changed a route.
func (t *TrafficFacts) isTrackWeighed(name string) bool {
	return t != nil && slices.ContainsFunc(t.Weighed, func(service string) bool { return track.OfService(service) == name })
}

// judgeTraffic withholds from a Site that it is live until its routes, and the pods that are awaited, follow the tree that its engine runs.
func judgeTraffic(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if o.State != v1alpha1.SiteLive || want.Traffic == nil {
		return o
	}
	if p := TrafficProblem(*want.Traffic, s.Traffic); p != nil {
		o.State, o.Reason, o.Message = v1alpha1.SiteSyncing, p.Reason, p.Message
	}
	return o
}

// TrafficProblem returns the reason why the routes and the awaited pods of a Site are not as Git has them, or nil.
func TrafficProblem(want v1alpha1.SiteTraffic, observed *TrafficFacts) *Problem {
	if observed == nil {
		return &Problem{Reason: v1alpha1.SiteReasonProofUnknown, Message: "the routes of the Site were not read"}
	}
	if observed.Routes != nil {
		return observed.Routes
	}
	for _, t := range want.Tracks {
		if p := observed.Workloads[t.Name]; t.Awaited && p != nil {
			return p
		}
	}
	return nil
}

// observeTraffic returns the observation of the tracks of a Site. It is nil for a Site without tracks.
func (f Facts) observeTraffic(want v1alpha1.SiteTree, s SiteFacts) *v1alpha1.SiteTrafficObservation {
	if want.Traffic == nil {
		return nil
	}
	last, applied := f.previousSite(want.Name), f.appliesTraffic(want, s)
	if IsOtherTarget(last.Engine, &v1alpha1.EngineObservation{Target: s.Engine.Target}) {
		last.Traffic = nil // Another cluster proved it.
	}
	out := &v1alpha1.SiteTrafficObservation{}
	for _, t := range want.Traffic.Tracks {
		previous := evidence.TrackOf(last, t.Name)
		if s.Traffic.isTrackWeighed(t.Name) {
			previous.ProvenAt, previous.IdleSince = nil, nil // It gets requests, even if the last observation had proof of the contrary.
		}
		o := f.observeWeight(t, previous, applied && s.Traffic.Routes == nil)
		f.observePods(&o, t, previous, applied && s.Traffic.hasTrackPods(t.Name))
		o.Idle = o.IdleSince != nil && !f.Now.Before(o.IdleSince.Add(drainDuration(*want.Traffic)))
		out.Tracks = append(out.Tracks, o)
	}
	return out
}

// appliesTraffic is true for a Site whose engine runs the tree, and whose routes and workloads were read: an engine that has not come to the tree
// might still apply an earlier one, with other weights and pods.
func (f Facts) appliesTraffic(want v1alpha1.SiteTree, s SiteFacts) bool {
	return s.Traffic != nil && f.judgeEngineReport(want, s, v1alpha1.SiteObservation{}).State == v1alpha1.SiteLive
}

// hasTrackPods is true if all pods of a track are available.
func (t *TrafficFacts) hasTrackPods(track string) bool {
	p, isRead := t.Workloads[track]
	return isRead && p == nil
}

// previousSite returns the last observation of a Site, for any position.
func (f Facts) previousSite(name string) v1alpha1.SiteObservation {
	for _, s := range f.Last.Sites {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.SiteObservation{}
}

// observeWeight returns the weight that a track is proven to have. A proof that it gets no requests stays over positions, for as long as Git gives it
// none.
func (f Facts) observeWeight(want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation, proven bool) v1alpha1.TrackObservation {
	o := v1alpha1.TrackObservation{Name: want.Name, Weight: last.Weight}
	if proven {
		o.Weight = new(want.Weight)
	}
	switch {
	case want.Weight > 0:
	case last.ProvenAt != nil && last.IdleSince != nil && isAfterBoundary(*last.ProvenAt, want.WeighedAt):
		o.ProvenAt, o.IdleSince = last.ProvenAt.DeepCopy(), last.IdleSince.DeepCopy()
	case proven && isAfterBoundary(f.askedPosition(), want.WeighedAt):
		o.ProvenAt, o.IdleSince = new(f.askedPosition()), f.nowTimestamp()
	}
	return o
}

// isAfterBoundary is true for a position after another one, and for each where the other is nil.
func isAfterBoundary(p ledger.Position, boundary *ledger.Position) bool {
	return boundary == nil || p.Compare(*boundary) > 0
}

// observePods notes the folder whose pods are available, and the position that proved it. Both stay over positions, until Git changes the folder.
func (f Facts) observePods(o *v1alpha1.TrackObservation, want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation, proven bool) {
	switch {
	case want.Tree == "":
	case arePodsProven(want, last):
		o.AvailableTree, o.AvailableAt = last.AvailableTree, last.AvailableAt.DeepCopy()
	case proven && !isBeforeBoundary(f.askedPosition(), want.ChangedAt):
		o.AvailableTree, o.AvailableAt = want.Tree, new(f.askedPosition())
	}
}

// HasProvenPods is true if the last observation of a Site, for any position, proves the pods of a track.
func (f Facts) HasProvenPods(site string, want v1alpha1.TrackTraffic) bool {
	return arePodsProven(want, evidence.TrackOf(f.previousSite(site), want.Name))
}

// arePodsProven is true if the pods of the folder that Git has were observed since it changed.
func arePodsProven(want v1alpha1.TrackTraffic, last v1alpha1.TrackObservation) bool {
	return last.AvailableTree == want.Tree && last.AvailableAt != nil && !isBeforeBoundary(*last.AvailableAt, want.ChangedAt)
}

func isBeforeBoundary(p ledger.Position, boundary *ledger.Position) bool {
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
