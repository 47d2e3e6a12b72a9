package readiness

import "slices"

const (
	typeTopologyReconciled = "TopologyReconciled"
	typeRollingOut         = "RollingOut"

	// Conditions of Cluster API by which a control plane reports that it is available, and a Cluster that its control plane is.
	typeAvailable             = "Available"
	typeControlPlaneAvailable = "ControlPlaneAvailable"
)

// A Topology is the progress of Cluster API with the ClusterClass of a Cluster.
type Topology struct {
	// Class that the Cluster names.
	Class string
	// Reason why Cluster API is not done, and the Message of the Cluster. An empty reason means that it is done.
	Reason, Message string
}

// clusterTopology returns the topology of a Cluster.
func clusterTopology(in Input) Topology {
	c, plane := in.Cluster, in.ControlPlane
	t := Topology{Class: c.textField(append([]string{"spec", "topology"}, c.contractVersion().layoutOfContract().topologyClass...)...)}
	if t.Class == "" {
		return Topology{}
	}
	done := newCondition(c, typeTopologyReconciled)
	switch {
	case !done.hasStatus(True):
		t.Reason, t.Message = textOrDefault(done.reason, ReasonTopologyNotReconciled), c.conditionWith("", "", "", done.message).Message
	case done.generation < c.GetGeneration(), isGenerationUnseen(plane):
		t.Reason = ReasonTopologyNotReconciled
	case isRollingOut(in):
		t.Reason = ReasonRollingOut
	}
	return t
}

// isGenerationUnseen is true for an object whose controller has not observed its current generation. An object without an observed generation counts as
// observed.
func isGenerationUnseen(o Object) bool {
	observed := o.intField("status", "observedGeneration")
	return observed > 0 && observed < o.GetGeneration()
}

// isRollingOut is true while a rollout replaces machines. The control plane knows it before the Cluster does.
func isRollingOut(in Input) bool {
	if newCondition(in.Cluster, typeRollingOut).hasStatus(True) {
		return true
	}
	return slices.ContainsFunc(supportedLayouts(), func(l layout) bool {
		return in.ControlPlane.findCondition(typeRollingOut, l.conditions...).hasStatus(True)
	})
}

func textOrDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
