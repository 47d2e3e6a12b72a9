// Package threshold is the only grammar of limits for measurements, such as "<= 500ms", ">= 99.0 %" or "< 0.05".
package threshold

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/measure"
)

// maxCharacters is the greatest length of a threshold, as in the schema.
const maxCharacters = 64

var (
	// thresholdPattern is a comparison, which may be left to the metric's direction, a number and its unit.
	thresholdPattern = regexp.MustCompile(`^ *(<=|>=|<|>|==)? *([0-9]+(?:[.][0-9]+)?) *([A-Za-z%/]*) *$`)

	// writableUnit is a unit that can stand in a threshold. The schema takes no other.
	writableUnit = regexp.MustCompile(`^[A-Za-z%/]*$`)
)

// A Threshold is a limit for a measurement.
type Threshold struct {
	comparison string
	amount     measure.Amount

	// limit is the nearest number to the amount that a measurement can be, so that a measured 0.1 is at most 0.1.
	limit float64
}

// Parse reads a threshold. It normalizes known units, so that "<=0.5 s" and "<= 500ms" are the same, and keeps a unit that only a
// Blueprint defines as it is. It returns an error for text that is not a threshold.
func Parse(text string) (Threshold, error) {
	found := thresholdPattern.FindStringSubmatch(text)
	if found == nil || len(text) > maxCharacters {
		return Threshold{}, errors.New("must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'")
	}
	if a, ok := measure.Of(found[2], found[3]); ok {
		return newThreshold(found[1], a)
	}
	value, ok := measure.Decimal(found[2])
	if !ok {
		return Threshold{}, errors.New("must have at most 15 digits before the point, and 9 behind it")
	}
	return newThreshold(found[1], measure.Amount{Value: value, Unit: found[3]})
}

func newThreshold(comparison string, a measure.Amount) (Threshold, error) {
	limit, err := strconv.ParseFloat(a.Value, 64)
	return Threshold{comparison: comparison, amount: a, limit: limit}, errors.Wrapf(err, "cannot read %q", a.Value)
}

// String returns the threshold as Parse reads it.
func (t Threshold) String() string {
	return strings.TrimSpace(t.comparison + " " + t.amountWithUnit())
}

// amountWithUnit puts a space before units that only a Blueprint defines, and leaves out units that cannot be written.
func (t Threshold) amountWithUnit() string {
	if t.amount.Unit == measure.None || measure.IsUnit(t.amount.Unit) {
		return t.amount.String()
	}
	if !writableUnit.MatchString(t.amount.Unit) {
		return t.amount.Value
	}
	return t.amount.Value + " " + t.amount.Unit
}

// Unit returns the unit of the limit. It is empty for a number without a unit.
func (t Threshold) Unit() string { return t.amount.Unit }

// Compares reports whether the threshold has a comparison.
func (t Threshold) Compares() bool { return t.comparison != "" }

// In returns the threshold in the unit of its metric. A number without a unit is in that unit. It returns an error for a threshold in a
// unit of another quantity, and for a threshold with too many digits in that unit.
func (t Threshold) In(unit string) (Threshold, error) {
	if t.amount.Unit == measure.None || t.amount.Unit == unit {
		t.amount.Unit = unit
		return t, nil
	}
	canonical, _ := measure.Of(t.amount.Value, t.amount.Unit)
	value, ok := canonical.In(unit)
	if !ok {
		return t, errors.Errorf("%q cannot be said in %s", t, describeUnit(unit))
	}
	return newThreshold(t.comparison, measure.Amount{Value: value, Unit: unit})
}

func describeUnit(unit string) string {
	if unit == measure.None {
		return "a number without a unit"
	}
	return unit
}

// Directed returns the threshold with its comparison, or with the comparison for the good side of its metric. It returns an error when the comparison of the
// threshold points to the bad side: that would reject good values, and pass bad values.
func (t Threshold) Directed(d catalogv1alpha1.Direction) (Threshold, error) {
	switch {
	case d == catalogv1alpha1.DirectionAtMost && strings.HasPrefix(t.comparison, ">"):
		return t, errors.Errorf("%q points the wrong way: less is better, so the threshold must begin with <= or <", t)
	case d == catalogv1alpha1.DirectionAtLeast && strings.HasPrefix(t.comparison, "<"):
		return t, errors.Errorf("%q points the wrong way: more is better, so the threshold must begin with >= or >", t)
	case t.Compares():
	case d == catalogv1alpha1.DirectionAtMost:
		t.comparison = "<="
	case d == catalogv1alpha1.DirectionAtLeast:
		t.comparison = ">="
	}
	return t, nil
}

// Holds reports whether a value in the unit of the threshold is on its good side. NaN and infinite values are not on it, and a threshold
// without a comparison never holds.
func (t Threshold) Holds(value float64) bool {
	// No comparison holds for NaN.
	if math.IsInf(value, 0) {
		return false
	}
	switch t.comparison {
	case "<=":
		return value <= t.limit
	case ">=":
		return value >= t.limit
	case "<":
		return value < t.limit
	case ">":
		return value > t.limit
	case "==":
		return value == t.limit
	}
	return false
}

// HoldsFor reports whether each value of a range is on the good side, so that no measurement can fail. A range without values has none that fails.
func (t Threshold) HoldsFor(r measure.Range) bool {
	if r.Low > r.High {
		return true
	}
	switch t.comparison {
	case "<=":
		return r.High <= t.limit
	case ">=":
		return r.Low >= t.limit
	case "<":
		return r.High < t.limit
	case ">":
		return r.Low > t.limit
	case "==":
		return r.IsConstant() && r.Low == t.limit
	}
	return false
}
