package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/threshold"
)

// A bound is one comparison of a value with a number.
type bound struct {
	comparison string
	limit      string
}

// newBound returns a bound for a number, or an error for a number that no threshold can have.
func newBound(comparison string, limit float64) (bound, error) {
	b := bound{comparison: comparison, limit: strconv.FormatFloat(limit, 'f', -1, 64)}
	if _, err := threshold.Parse(b.String()); err != nil {
		return b, errors.Wrapf(err, "%q cannot be a threshold", b)
	}
	return b, nil
}

// String returns the bound as a threshold.
func (b bound) String() string { return b.comparison + " " + b.limit }

// side names the side that the bound is on.
func (b bound) side() string {
	switch {
	case strings.HasPrefix(b.comparison, ">"):
		return "-min"
	case strings.HasPrefix(b.comparison, "<"):
		return "-max"
	}
	return "-equal"
}

// haveOneSideEach reports whether the names of the checks of bounds differ.
func haveOneSideEach(bounds []bound) bool {
	sides := map[string]bool{}
	for _, b := range bounds {
		sides[b.side()] = true
	}
	return len(sides) == len(bounds)
}

// equalBounds compares bounds without their order.
func equalBounds(a, b []bound) bool {
	byText := func(x, y bound) int { return strings.Compare(x.String(), y.String()) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byText), slices.SortedFunc(slices.Values(b), byText))
}
