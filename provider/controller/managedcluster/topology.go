package managedcluster

import (
	"time"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// A carried topology is one that Cluster API was done with, and since when without interruption.
type carried struct {
	class string
	since time.Time
}

// see a topology. Cluster API says that it is done with another ClusterClass before machines say that they are replaced because of it, so
// it counts as done after a while. It returns whether it does, and when it will.
func (c carried) see(t readiness.Topology, now time.Time, stabilization time.Duration) (carried, bool, time.Time) {
	if t.Class == "" || t.Reason != "" {
		return carried{}, false, time.Time{}
	}
	if c.class != t.Class {
		c = carried{class: t.Class, since: now}
	}
	if due := c.since.Add(stabilization); now.Before(due) {
		return c, false, due
	}
	return c, true, time.Time{}
}

// topologyOf a Cluster, with what is remembered of it: which ClusterClass it was last made of, and whether it gets another one.
func topologyOf(f facts, before *v1alpha1.ObservedTopology) *v1alpha1.ObservedTopology {
	t := f.report.Topology
	if t.Class == "" {
		return nil
	}
	out := &v1alpha1.ObservedTopology{Reason: t.Reason, Message: cut(t.Message)}
	if before != nil {
		out.Class, out.Rebasing = before.Class, before.Rebasing || before.Class != "" && before.Class != t.Class
	}
	if f.carried {
		out.Class, out.Rebasing = t.Class, false
	}
	if !out.Rebasing {
		out.Reason, out.Message = "", "" // Machines are replaced for other reasons too, and each time that this is told costs something.
	}
	return out
}

// rebased is true if something is to be remembered of a topology at once. What a cluster is made of first comes with its next step: it is
// built, and all of these are told until it is ready.
func rebased(a, b *v1alpha1.ObservedTopology) bool {
	if a == nil || b == nil {
		return a != nil
	}
	return a.Class != "" && a.Class != b.Class || a.Rebasing != b.Rebasing
}
