// Package stats has the statistics of measured samples.
package stats

import (
	"slices"
	"time"
)

// Median returns the median of samples, or 0 without samples. Of an even number it is the mean of the two in the middle.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
