package readiness

import "slices"

const (
	typeTopologyReconciled = "TopologyReconciled"
	typeRollingOut         = "RollingOut"

	// Conditions of Cluster API by which a control plane reports that it is available, and a Cluster that its control plane is.
	typeAvailable             = "Available"
	typeControlPlaneAvailable = "ControlPlaneAvailable"
)

// A Topology is how far Cluster API is with what a Cluster asks for of its ClusterClass.
type Topology struct {
	// Class that the Cluster names.
	Class string
	// Reason why Cluster API is not done, and the Message of the Cluster. An empty reason means that it is done.
	Reason, Message string
}

// topologyOf a Cluster.
func topologyOf(in Input) Topology {
	c, plane := in.Cluster, in.ControlPlane
	t := Topology{Class: c.text(append([]string{"spec", "topology"}, c.version().layout().topologyClass...)...)}
	if t.Class == "" {
		return Topology{}
	}
	done := newCondition(c, typeTopologyReconciled)
	switch {
	case !done.is(True):
		t.Reason, t.Message = orElse(done.reason, ReasonTopologyNotReconciled), c.says("", "", "", done.message).Message
	case done.generation < c.GetGeneration(), unseen(plane):
		t.Reason = ReasonTopologyNotReconciled
	case rolling(in):
		t.Reason = ReasonRollingOut
	}
	return t
}

// unseen is true for an object whose controller has not looked at it as it is. One that does not say is not.
func unseen(o Object) bool {
	seen := o.number("status", "observedGeneration")
	return seen > 0 && seen < o.GetGeneration()
}

// rolling is true while machines are replaced by others that are asked for. The control plane knows it before the Cluster does.
func rolling(in Input) bool {
	if newCondition(in.Cluster, typeRollingOut).is(True) {
		return true
	}
	return slices.ContainsFunc(layouts(), func(l layout) bool { return in.ControlPlane.condition(typeRollingOut, l.conditions...).is(True) })
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
