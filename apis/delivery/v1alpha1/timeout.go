package v1alpha1

import "time"

// Bounds of the timeouts of deliveries, of Sites, and of attempts to roll back.
const (
	shortestTimeout = time.Second
	longestTimeout  = 24 * time.Hour
)

// defaultAttemptTimeout is the default of the schema for the timeout of an attempt to roll back.
const defaultAttemptTimeout = "5m"

// ParseTimeout returns the timeout of a text, and whether it is a duration within the bounds.
func ParseTimeout(text string) (time.Duration, bool) {
	timeout, err := time.ParseDuration(text)
	return timeout, err == nil && timeout >= shortestTimeout && timeout <= longestTimeout
}

// ValidAttemptTimeout returns a text that is a valid timeout of an attempt to roll back, or else the default: an invalid timeout stops no rollback.
func ValidAttemptTimeout(text string) string {
	if _, isValid := ParseTimeout(text); isValid {
		return text
	}
	return defaultAttemptTimeout
}
