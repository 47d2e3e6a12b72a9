package clusters

import "time"

const (
	// A cluster that exceeded a bound is left alone for firstPenalty, and for twice as long each time that it does so again, up to maxPenalty.
	firstPenalty = 2 * time.Minute
	maxPenalty   = time.Hour
)

// penaltyAfter returns how long a cluster is left alone that exceeded a bound for the nth time in a row.
func penaltyAfter(n int) time.Duration {
	d := firstPenalty
	for ; n > 1 && d < maxPenalty; n-- {
		d *= 2
	}
	return min(d, maxPenalty)
}
