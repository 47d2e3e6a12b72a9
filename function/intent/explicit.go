package intent

import (
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Explicit says which of the values that have a default were set explicitly, also if they equal the default.
type Explicit struct {
	// Type, Replicas (of all Sites) and Priority were set.
	Type, Replicas, Priority bool

	// SST (of the slice) and Latency were set. Where they were not, they may come from the class of the service.
	SST, Latency bool
}

// otherDefaultIntent returns defaults of which each differs from the real one. A value that is the same with both was set explicitly.
func otherDefaultIntent() Intent {
	return Intent{Type: "otherwise", Replicas: 2, Priority: "low"}
}

// ExplicitInText returns which values a text sets explicitly. For a text that FromText refuses it returns none.
func ExplicitInText(text string) Explicit {
	return findExplicit(func(d *draft) (Intent, error) { return textIntoDraft(text, d) })
}

// ExplicitInExpectation returns which values an expectation sets explicitly. In an expectation that an API server defaulted, all are set.
func ExplicitInExpectation(e *deploymentv1alpha1.Expectation) Explicit {
	return findExplicit(func(d *draft) (Intent, error) { return expectationIntoDraft(e, d) })
}

func findExplicit(read func(*draft) (Intent, error)) Explicit {
	d := newIntentDraft(defaultIntent())
	parsed, err := read(d)
	if err != nil {
		return Explicit{}
	}
	otherIntent, err := read(newIntentDraft(otherDefaultIntent()))
	if err != nil {
		return Explicit{}
	}
	return Explicit{
		Type: parsed.Type == otherIntent.Type, Replicas: parsed.Replicas == otherIntent.Replicas, Priority: parsed.Priority == otherIntent.Priority,
		// The draft does not have the defaults of its class yet.
		SST: d.Slice.SST != nil, Latency: d.QoS.LatencyMs != "",
	}
}
