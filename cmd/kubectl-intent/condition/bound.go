package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/threshold"
)

// A Bound is one comparison of a value with a number.
type Bound struct {
	// Comparison is an operator of a threshold, such as <=.
	Comparison string

	// Limit is the number, without an exponent.
	Limit string
}

// NewBound returns a bound for a number, or an error for a number that no threshold can have.
func NewBound(comparison string, limit float64) (Bound, error) {
	b := Bound{Comparison: comparison, Limit: strconv.FormatFloat(limit, 'f', -1, 64)}
	if _, err := threshold.Parse(b.String()); err != nil {
		return b, errors.Wrapf(err, "%q cannot be a threshold", b)
	}
	return b, nil
}

// String returns the bound as a threshold.
func (b Bound) String() string { return b.Comparison + " " + b.Limit }

// Side returns the end of a check's name that distinguishes bounds of different sides: -min, -max or -equal.
func (b Bound) Side() string {
	switch {
	case strings.HasPrefix(b.Comparison, ">"):
		return "-min"
	case strings.HasPrefix(b.Comparison, "<"):
		return "-max"
	}
	return "-equal"
}

// haveOneSideEach reports whether the names of the checks of bounds differ.
func haveOneSideEach(bounds []Bound) bool {
	sides := map[string]bool{}
	for _, b := range bounds {
		sides[b.Side()] = true
	}
	return len(sides) == len(bounds)
}

// equalBounds compares bounds without their order.
func equalBounds(a, b []Bound) bool {
	byText := func(x, y Bound) int { return strings.Compare(x.String(), y.String()) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byText), slices.SortedFunc(slices.Values(b), byText))
}
