package proof

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const maxClusterReason = 64

// ClusterFacts are the observed state of a Site's Cluster API cluster.
type ClusterFacts struct {
	// UID of the Cluster. Empty if it is unknown.
	UID string
	// Deleted is true if the Cluster is known not to exist.
	Deleted bool
	// Ready is true if the cluster was deliverable for long enough.
	Ready bool
	// Blocker is the reason why the cluster is not ready.
	Blocker readiness.Blocker
	// Trouble is the last problem of the cluster, until all of it has been well for long enough.
	Trouble readiness.Blocker
	// Initialized has the time since when the control plane is known to be initialized.
	Initialized readiness.Initialized
	// Recheck is the time of the next observation. Zero if none is due by time alone.
	Recheck time.Time
}

// IsAwaitingCluster is true for a Site whose cluster was not ready yet for this position.
func (f Facts) IsAwaitingCluster(want v1alpha1.SiteTree, s SiteFacts) bool {
	c := f.observeCluster(want, s)
	return c != nil && c.PassedAt == nil
}

// observeCluster returns the cluster of a Site, as the status shows it. A latched state stays as long as the Cluster is the same or unknown.
func (f Facts) observeCluster(want v1alpha1.SiteTree, s SiteFacts) *v1alpha1.SiteClusterObservation {
	if s.Cluster == nil {
		return f.rememberedCluster(want, s)
	}
	ready := s.Cluster.Ready
	out := &v1alpha1.SiteClusterObservation{UID: s.Cluster.UID, Ready: &ready}
	last := f.lastObservation(want.Name).Cluster
	if last != nil && out.UID == "" && !s.Cluster.Deleted {
		out.UID = last.UID
	}
	if i := s.Cluster.Initialized; i.UID != "" && i.UID == out.UID {
		out.InitializedAt = &metav1.Time{Time: i.At}
	}
	switch {
	case last != nil && last.PassedAt != nil && last.UID == out.UID:
		out.PassedAt = last.PassedAt.DeepCopy()
	case ready:
		out.PassedAt = f.nowTimestamp()
	}
	blocker := s.Cluster.Blocker
	if out.PassedAt != nil {
		blocker = s.Cluster.Trouble // No delivery waits any more.
	}
	out.Reason, out.Message = blocker.Reason, blocker.String()
	out.Reason = out.Reason[:min(len(out.Reason), maxClusterReason)]
	return out
}

// rememberedCluster returns the latched state of the cluster of a Site that is not observed, for any position.
func (f Facts) rememberedCluster(want v1alpha1.SiteTree, s SiteFacts) *v1alpha1.SiteClusterObservation {
	l := f.LatchedInitialized(want.Name)
	if l.UID == "" || s.Site != nil {
		return nil
	}
	return &v1alpha1.SiteClusterObservation{UID: l.UID, InitializedAt: &metav1.Time{Time: l.At}}
}

// LatchedInitialized returns the time since when the cluster of a Site is known to be initialized, by the status of any position.
func (f Facts) LatchedInitialized(site string) readiness.Initialized {
	for _, s := range f.Last.Sites {
		if c := s.Cluster; s.Name == site && c != nil && c.InitializedAt != nil {
			return readiness.Initialized{UID: c.UID, At: c.InitializedAt.UTC()}
		}
	}
	return readiness.Initialized{}
}

// awaitCluster waits for a Site's cluster. The wait has a clock of its own.
func (f Facts) awaitCluster(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	c := f.observeCluster(want, s)
	o.State, o.Reason, o.Message = v1alpha1.SiteWaitingForCluster, c.Reason, c.Message
	if o.StartedAt = f.waitingSince(want.Name, true); o.StartedAt == nil {
		o.StartedAt = f.nowTimestamp()
	}
	return f.withTimeout(o)
}

// hasAwaitedCluster is true for a Site that waits for its cluster, in time or not.
func hasAwaitedCluster(o v1alpha1.SiteObservation) bool {
	return o.Cluster != nil && o.Cluster.PassedAt == nil
}
