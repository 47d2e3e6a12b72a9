package measure

import "math"

// A Range holds the values that a measurement can have, with both ends. A Range whose low end is above its high end is empty.
type Range struct {
	Low, High float64
}

// AnyValue returns the Range of all values.
func AnyValue() Range { return Range{Low: math.Inf(-1), High: math.Inf(1)} }

// NoValue returns the Range without values.
func NoValue() Range { return Range{Low: math.Inf(1), High: math.Inf(-1)} }

// OneValue returns the Range of a value.
func OneValue(v float64) Range { return Range{Low: v, High: v} }

// NotNegative returns the Range of 0 and all values above it.
func NotNegative() Range { return Range{Low: 0, High: math.Inf(1)} }

// Union returns the Range from the lowest to the highest value of two Ranges.
func (r Range) Union(second Range) Range {
	return Range{Low: min(r.Low, second.Low), High: max(r.High, second.High)}
}

// Intersection returns the Range of the values that two Ranges have in common.
func (r Range) Intersection(second Range) Range {
	return Range{Low: max(r.Low, second.Low), High: min(r.High, second.High)}
}

// IsConstant reports whether the Range holds one value.
func (r Range) IsConstant() bool { return r.Low == r.High }
