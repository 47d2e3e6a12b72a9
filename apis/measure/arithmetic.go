package measure

import (
	"math"
	"slices"
)

// Negative returns the Range of the values with the opposite sign.
func (r Range) Negative() Range { return Range{Low: -r.High, High: -r.Low} }

// Plus returns the Range of the sums of the values of two Ranges.
func (r Range) Plus(second Range) Range { return rangeBetween(r.Low+second.Low, r.High+second.High) }

// Minus returns the Range of the differences of the values of two Ranges.
func (r Range) Minus(second Range) Range { return r.Plus(second.Negative()) }

// Times returns the Range of the products of the values of two Ranges. Zero times infinity counts as zero, since an end is the limit of the values before it.
func (r Range) Times(second Range) Range {
	product := func(a, b float64) float64 {
		if a == 0 || b == 0 {
			return 0
		}
		return a * b
	}
	return RangeOf(product(r.Low, second.Low), product(r.Low, second.High), product(r.High, second.Low), product(r.High, second.High))
}

// DividedBy returns the Range of the quotients of the values of two Ranges.
func (r Range) DividedBy(second Range) Range {
	switch {
	case second.IsConstant() && second.Low != 0:
		return RangeOf(r.Low/second.Low, r.High/second.Low)
	case r.Low >= 0 && second.Low >= 0:
		return NotNegative()
	case r.High <= 0 && second.Low >= 0:
		return NotNegative().Negative()
	}
	return AnyValue()
}

// Remainder returns the Range of the remainders of divisions. A remainder has the sign of the dividend, and is smaller than both are without their signs.
func (r Range) Remainder(second Range) Range {
	limit := max(math.Abs(second.Low), math.Abs(second.High))
	return Range{Low: min(0, max(r.Low, -limit)), High: max(0, min(r.High, limit))}
}

// RangeOf returns the Range from the least to the greatest of the values. It holds all values if one of them is not a number.
func RangeOf(values ...float64) Range { return rangeBetween(slices.Min(values), slices.Max(values)) }

// rangeBetween returns a Range whose ends were computed. An end that is not a number, as infinity less infinity, is unknown.
func rangeBetween(low, high float64) Range {
	r := AnyValue()
	if !math.IsNaN(low) {
		r.Low = low
	}
	if !math.IsNaN(high) {
		r.High = high
	}
	return r
}
