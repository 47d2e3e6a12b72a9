// Package projection has the common parts of the statuses of all composites: conditions, and a phase that changes along a table. A
// projection decides nothing: a deleted status is computed again with the same content.
package projection

import (
	corev1 "k8s.io/api/core/v1"
)

// Condition is one condition of a composite. Its message is stable: no times, counters or durations.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
}

// Is returns a condition that is true or false.
func Is(typ string, status bool, reason, message string) Condition {
	c := Condition{Type: typ, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	if status {
		c.Status = corev1.ConditionTrue
	}
	return c
}

// Unknown returns a condition whose status is unknown.
func Unknown(typ, reason, message string) Condition {
	return Condition{Type: typ, Status: corev1.ConditionUnknown, Reason: reason, Message: message}
}

// Fit shortens a message to the length that the schema allows: an API server refuses a whole status for one longer message.
func Fit(message string, limit int) string {
	characters := []rune(message)
	if len(characters) <= limit {
		return message
	}
	return string(characters[:limit-1]) + "…"
}
