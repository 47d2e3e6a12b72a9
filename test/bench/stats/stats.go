// Package stats has the statistics of measured samples.
package stats

import (
	"math"
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

// Percentile returns the smallest value that so many of a hundred are not above.
func Percentile(v []float64, percentile int) float64 {
	if len(v) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(v))
	return sorted[int(math.Ceil(float64(len(sorted)*percentile)/100))-1]
}

// CountChanged returns the number of objects that have another resource version than before, or are new.
func CountChanged(previous, current map[string]string) float64 {
	n := 0.0
	for name, version := range current {
		if previous[name] != version {
			n++
		}
	}
	return n
}
