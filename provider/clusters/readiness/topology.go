package readiness

const (
	typeTopologyReconciled = "TopologyReconciled"
	typeRollingOut         = "RollingOut"
)

// A Topology is how far Cluster API is with what a Cluster asks for of its ClusterClass.
type Topology struct {
	// Class that the Cluster names.
	Class string
	// Reason why Cluster API is not done, and the Message of the Cluster. An empty reason means that it is done.
	Reason, Message string
}

// topologyOf a Cluster. That nothing is rolled out is also asked of the control plane, which knows it before the Cluster does.
func topologyOf(in Input) Topology {
	c, plane := in.Cluster, in.ControlPlane
	t := Topology{Class: c.text("spec", "topology", "classRef", "name")}
	if c.version() == V1Beta1 {
		t.Class = c.text("spec", "topology", "class")
	}
	if t.Class == "" {
		return Topology{}
	}
	done := newCondition(c, typeTopologyReconciled)
	switch {
	case !done.is(True):
		t.Reason, t.Message = orElse(done.reason, ReasonTopologyNotReconciled), c.says("", "", "", done.message).Message
	case done.generation < c.GetGeneration(), unseen(plane):
		t.Reason = ReasonTopologyNotReconciled
	case newCondition(c, typeRollingOut).is(True), rollsOut(plane):
		t.Reason = ReasonRollingOut
	}
	return t
}

// unseen is true for an object whose controller has not looked at it as it is. One that does not say is not.
func unseen(o Object) bool {
	seen := o.number("status", "observedGeneration")
	return seen > 0 && seen < o.GetGeneration()
}

func rollsOut(o Object) bool {
	return o.condition(typeRollingOut).is(True) || o.condition(typeRollingOut, "status", "v1beta2", "conditions").is(True)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
