// Package instant has the times of a status: the next one that is due, and a timestamp. Pure.
package instant

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Earliest returns the earlier of two times. A zero time means no time.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Timestamp returns a time with the precision that a status has: a second.
func Timestamp(t time.Time) *metav1.Time {
	out := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &out
}
