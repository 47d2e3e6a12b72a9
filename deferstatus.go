package main

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/function/projection"
)

// typeReady is the condition that Crossplane derives from the readiness in a response.
const typeReady = "Ready"

// deferStatus keeps the observed status in a reply whose conditions change: the next call, which the new conditions cause, writes the new status. Observed
// are the conditions of the composite, and recorded is its status.
//
// Crossplane writes the status first and the conditions after it, and the first write includes the conditions that were read before. If both change in one
// call, the first write starts the next call, which has not read the second write yet: it restores the earlier conditions and sets the new conditions again,
// and so on, until a call happens to read the last write. Each turn costs four tokens of Crossplane's circuit breaker. One after another they cost two writes
// in all, since the status write includes the conditions that exist by then. So a client that sees a phase sees its conditions too. A transitional status is
// not written: the next call writes the final status. While a verdict is being recorded or an image handed over, conditions are held as well, because an
// intermediate value costs as many writes as the final value. It returns an error if a status cannot be encoded.
func deferStatus(observed []projection.Condition, recorded any, r *reply) error {
	if r.recording && hasAllConditions(observed, r) {
		holdConditions(observed, r)
		r.passing = true
	}
	if !haveConditionsChanged(observed, r) && (!r.passing || !hasAllConditions(observed, r)) {
		return nil
	}
	recordedJSON, err := json.Marshal(recorded)
	if err != nil {
		return errors.Wrap(err, "cannot encode the observed status")
	}
	nextJSON, err := json.Marshal(r.status)
	if err != nil {
		return errors.Wrap(err, "cannot encode the status")
	}
	if !bytes.Equal(recordedJSON, nextJSON) {
		r.status, r.deferred = recorded, true
	}
	return nil
}

// holdConditions leaves the conditions of a composite as they are, and whether it is ready.
func holdConditions(observed []projection.Condition, r *reply) {
	current := conditionsByType(observed)
	retained := make([]projection.Condition, len(r.conditions))
	for i, c := range r.conditions {
		retained[i] = current[c.Type]
	}
	r.conditions, r.ready = retained, current[typeReady].Status == corev1.ConditionTrue
}

func conditionsByType(all []projection.Condition) map[string]projection.Condition {
	out := map[string]projection.Condition{}
	for _, c := range all {
		out[c.Type] = c
	}
	return out
}

// hasAllConditions reports whether a composite has each condition of a reply.
func hasAllConditions(observed []projection.Condition, r *reply) bool {
	return !slices.ContainsFunc(r.conditions, func(c projection.Condition) bool {
		return !slices.ContainsFunc(observed, func(o projection.Condition) bool { return o.Type == c.Type })
	})
}

// haveConditionsChanged reports whether a reply has other conditions than the composite. A composite that does not have all of them gets
// everything at once.
func haveConditionsChanged(observed []projection.Condition, r *reply) bool {
	recorded := conditionsByType(observed)
	ready, all := recorded[typeReady]
	differ := (ready.Status == corev1.ConditionTrue) != r.ready
	for _, c := range r.conditions {
		condition, isPresent := recorded[c.Type]
		all, differ = all && isPresent, differ || condition != c
	}
	return all && differ
}
