package setup

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

// CutMessage cuts a message to so many characters, as the API server counts them.
func CutMessage(message string, limit int) string {
	if r := []rune(message); len(r) > limit {
		return string(r[:limit])
	}
	return message
}
