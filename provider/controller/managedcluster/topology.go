package managedcluster

import (
	"time"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// A topologyProgress is the ClusterClass that Cluster API reported as reconciled, and since when without interruption.
type topologyProgress struct {
	class string
	since time.Time
}

// observeTopology returns the progress after an observation, whether the topology counts as done, and when it will. Cluster API reports
// that another ClusterClass is reconciled before machines report that they are replaced because of it, so the topology counts as done after
// the stabilization period.
func (c topologyProgress) observeTopology(t readiness.Topology, now time.Time, stabilization time.Duration) (topologyProgress, bool, time.Time) {
	if t.Class == "" || t.Reason != "" {
		return topologyProgress{}, false, time.Time{}
	}
	if c.class != t.Class {
		c = topologyProgress{class: t.Class, since: now}
	}
	if due := c.since.Add(stabilization); now.Before(due) {
		return c, false, due
	}
	return c, true, time.Time{}
}

// topologyStatus returns the topology for the status: which ClusterClass the Cluster was last made from, and whether it is being rebased to
// another one.
func topologyStatus(f facts, previous *v1alpha1.ObservedTopology) *v1alpha1.ObservedTopology {
	t := f.report.Topology
	if t.Class == "" {
		return nil
	}
	out := &v1alpha1.ObservedTopology{Reason: t.Reason, Message: oneline.Cut(t.Message, maxMessage)}
	if previous != nil {
		out.Class, out.Rebasing = previous.Class, previous.Rebasing || previous.Class != "" && previous.Class != t.Class
	}
	if f.topologyDone {
		out.Class, out.Rebasing = t.Class, false
	}
	if !out.Rebasing {
		out.Reason, out.Message = "", "" // Machines are replaced for other reasons too, and each write of the status has a cost.
	}
	return out
}

// isTopologyUrgent reports whether a change of the topology is written at once. The first ClusterClass of a cluster is not: it is written
// with the next step while the cluster is built.
func isTopologyUrgent(a, b *v1alpha1.ObservedTopology) bool {
	if a == nil || b == nil {
		return a != nil
	}
	return a.Class != "" && a.Class != b.Class || a.Rebasing != b.Rebasing
}
