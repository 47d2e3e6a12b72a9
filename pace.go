package main

import (
	"bytes"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/phase"
)

// typeReady is the condition that Crossplane makes of what a function says of the composite's readiness.
const typeReady = "Ready"

// pace keeps the status as it is while conditions change, and lets the call tell of it that follows from that.
//
// Crossplane writes the status first and the conditions after it, and the first write brings along the conditions that were read before. If
// both change in one call, the first write starts the next call, which has not read the second one yet: it takes the conditions back and
// gives them again, and so on, until one happens to read what was written last. Each turn costs four tokens of Crossplane's circuit breaker.
// One after another they cost two writes in all, since the status takes along the conditions that are there by then. So whoever sees a phase
// sees its conditions too. It returns an error if a status cannot be encoded.
func pace(in function.Input, out *function.Output) error {
	if !turned(in, out) {
		return nil
	}
	was, err := json.Marshal(in.Status)
	if err != nil {
		return errors.Wrap(err, "cannot encode the observed status")
	}
	is, err := json.Marshal(out.Status)
	if err != nil {
		return errors.Wrap(err, "cannot encode the status")
	}
	if !bytes.Equal(was, is) {
		out.Status = in.Status.DeepCopy()
	}
	return nil
}

// turned is true when an output has other conditions than were told. A composite that does not have all of them gets everything at once.
func turned(in function.Input, out *function.Output) bool {
	told := map[string]phase.Condition{}
	for _, c := range in.Conditions {
		told[c.Type] = c
	}
	ready, all := told[typeReady]
	differ := (ready.Status == corev1.ConditionTrue) != out.Ready
	for _, c := range out.Conditions {
		was, there := told[c.Type]
		all, differ = all && there, differ || was != c
	}
	return all && differ
}
