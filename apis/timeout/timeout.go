// Package timeout reads the timeouts of deliveries, of Sites, and of attempts to roll back.
package timeout

import "time"

// Bounds of timeouts.
const (
	shortest = time.Second
	longest  = 24 * time.Hour
)

// defaultOfAttempt is the default of the schema for the timeout of an attempt to roll back.
const defaultOfAttempt = "5m"

// Parse returns the timeout of a text, and whether it is a duration within the bounds.
func Parse(text string) (time.Duration, bool) {
	timeout, err := time.ParseDuration(text)
	return timeout, err == nil && timeout >= shortest && timeout <= longest
}

// OfAttempt returns a text that is a valid timeout of an attempt to roll back, or else the default: an invalid timeout stops no rollback.
func OfAttempt(text string) string {
	if _, isValid := Parse(text); isValid {
		return text
	}
	return defaultOfAttempt
}
