package intent

import (
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Said tells which of the values that have a default were said, be it with the default's own value.
type Said struct {
	// Type, Replicas (those of all Sites) and Priority were said.
	Type, Replicas, Priority bool

	// SST (of the slice) and Latency were said. Where they were not, they can have come from the class of the service.
	SST, Latency bool
}

// otherDefaults are defaults that differ from the real ones in everything. What is the same with both was said.
func otherDefaults() Intent {
	return Intent{Type: "otherwise", Replicas: 2, Priority: "low"}
}

// SaidInText tells what a text says. Of one that FromText refuses it tells nothing.
func SaidInText(text string) Said {
	return said(func(d *draft) (Intent, error) { return fromText(text, d) })
}

// SaidInExpectation tells what an expectation says. One that an API server filled in says everything.
func SaidInExpectation(e *deploymentv1alpha1.Expectation) Said {
	return said(func(d *draft) (Intent, error) { return fromExpectation(e, d) })
}

func said(read func(*draft) (Intent, error)) Said {
	d := newDraft(defaults())
	is, err := read(d)
	if err != nil {
		return Said{}
	}
	other, err := read(newDraft(otherDefaults()))
	if err != nil {
		return Said{}
	}
	return Said{
		Type: is.Type == other.Type, Replicas: is.Replicas == other.Replicas, Priority: is.Priority == other.Priority,
		// The draft is what it was before its class had a say.
		SST: d.Slice.SST != nil, Latency: d.QoS.LatencyMs != "",
	}
}
