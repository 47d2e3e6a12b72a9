package sitesync

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const (
	// maxClusters bounds how many clusters are remembered. One that is forgotten has to be ready for a while again.
	maxClusters = 4096

	maxClusterReason = 64
)

// A clusterFacts is what is known of a Site's Cluster API cluster.
type clusterFacts struct {
	// uid of the Cluster. Empty if it is not known.
	uid string
	// gone is true if the Cluster is known not to exist.
	gone bool
	// ready is true if it was deliverable for long enough.
	ready bool
	// blocker says why it is not.
	blocker readiness.Blocker
	// again is when to look again.
	again time.Time
}

// clusterFacts reads the Cluster. It returns an error if the provider's own configuration is not valid.
func (e *external) clusterFacts(ctx context.Context, ref catalogv1alpha1.ObjectReference) (*clusterFacts, error) {
	if message := notOurs(ref); message != "" {
		return &clusterFacts{gone: true, blocker: readiness.Blocker{Reason: readiness.ReasonKindMissing, Message: message}}, nil
	}
	home, err := e.look.Home()
	if err != nil {
		return nil, err
	}
	key, now := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, e.now()
	r := clusterapi.Read(ctx, home, e.prober, clusterapi.Want{
		Namespace: ref.Namespace, Name: ref.Name, Limits: e.limits, Initialized: e.tracks.initialized(key),
	}, now)
	s := e.tracks.see(key, r.Report, now)
	out := &clusterFacts{
		uid: r.UID, ready: s.Ready, blocker: r.Blocker(), again: soonest(s.Due(readiness.Stabilization), r.Again),
		gone: r.UID == "" && r.Blocker().Reason == readiness.ReasonObjectMissing,
	}
	if out.blocker.Reason == "" && !s.Ready {
		out.blocker = readiness.Blocker{Reason: readiness.ReasonStabilizing, Message: "it is ready, and has not been for long enough"}
	}
	return out, nil
}

// notOurs says why a reference is to no Cluster of Cluster API.
func notOurs(ref catalogv1alpha1.ObjectReference) string {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	switch {
	case group != readiness.Group, ref.Kind != "Cluster":
		return "the Site's cluster.clusterRef names no Cluster of " + readiness.Group
	case ref.Namespace == "":
		return "the Site's cluster.clusterRef names no namespace"
	}
	return ""
}

// waits is true for a Site whose cluster was not ready yet for this order.
func (f facts) waits(want v1alpha1.SiteTree, s siteFacts) bool {
	c := f.clusterOf(want, s)
	return c != nil && c.PassedAt == nil
}

// clusterOf a Site, as it is shown. What passed stays so as long as the Cluster is the same one, or nobody can tell.
func (f facts) clusterOf(want v1alpha1.SiteTree, s siteFacts) *v1alpha1.SiteClusterObservation {
	if s.cluster == nil {
		return nil
	}
	ready := s.cluster.ready
	out := &v1alpha1.SiteClusterObservation{UID: s.cluster.uid, Ready: &ready}
	if !ready {
		out.Reason, out.Message = s.cluster.blocker.Reason, s.cluster.blocker.String()
		out.Reason = out.Reason[:min(len(out.Reason), maxClusterReason)]
	}
	last := f.last(want.Name).Cluster
	if last != nil && out.UID == "" && !s.cluster.gone {
		out.UID = last.UID
	}
	switch {
	case last != nil && last.PassedAt != nil && last.UID == out.UID:
		out.PassedAt = last.PassedAt.DeepCopy()
	case ready:
		out.PassedAt = f.timestamp()
	}
	return out
}

// await a Site's cluster. The wait has a clock of its own.
func (f facts) await(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	c := f.clusterOf(want, s)
	o.State, o.Reason, o.Message = v1alpha1.SiteWaitingForCluster, c.Reason, c.Message
	if o.StartedAt = f.since(want.Name, true); o.StartedAt == nil {
		o.StartedAt = f.timestamp()
	}
	return f.timed(o)
}

// waited is true for a Site that waits for its cluster, in time or not.
func waited(o v1alpha1.SiteObservation) bool { return o.Cluster != nil && o.Cluster.PassedAt == nil }

// passed is true for a Site whose cluster was ready for the order.
func passed(o v1alpha1.SiteObservation) bool { return o.Cluster != nil && o.Cluster.PassedAt != nil }

// tracks are what is remembered of clusters, shared by all who wait for them. They are safe for concurrent use.
type tracks struct {
	mu    sync.Mutex
	known *lru.Cache
}

type track struct {
	steady      readiness.Steady
	initialized readiness.Initialized
}

func newTracks() *tracks { return &tracks{known: lru.New(maxClusters)} }

func (t *tracks) of(key types.NamespacedName) track {
	known, _ := t.known.Get(key)
	out, _ := known.(track)
	return out
}

func (t *tracks) initialized(key types.NamespacedName) readiness.Initialized {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of(key).initialized
}

// see what a cluster is now. One that nobody can tell of is still the same one.
func (t *tracks) see(key types.NamespacedName, r readiness.Report, now time.Time) readiness.Steady {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, uid := t.of(key).steady, r.UID
	if uid == "" && r.Blocker().Reason != readiness.ReasonObjectMissing {
		uid = last.UID
	}
	s := last.See(uid, r.Deliverable(), now, readiness.Stabilization)
	t.known.Add(key, track{steady: s, initialized: r.Initialized})
	return s
}
