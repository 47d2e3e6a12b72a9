package intent

import (
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/function/intent/measure"
)

// maxThreshold is how long a threshold may be. The schema says so too.
const maxThreshold = 64

// thresholdForm is a comparison, which may be left to the metric's direction, a number and its unit.
var thresholdForm = regexp.MustCompile(`^ *(<=|>=|<|>|==)? *([0-9]+(?:[.][0-9]+)?) *([A-Za-z%/]*) *$`)

// Threshold returns a threshold in canonical form, such as "<= 500ms" for "<=0.5 s". It returns an error for what is none.
func Threshold(text string) (string, error) {
	found := thresholdForm.FindStringSubmatch(text)
	if found == nil || len(text) > maxThreshold {
		return "", errors.New("must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'")
	}
	amount, err := thresholdAmount(found[2], found[3])
	return strings.TrimSpace(found[1] + " " + amount), err
}

// thresholdAmount keeps units that only a Blueprint knows as they are.
func thresholdAmount(value, unit string) (string, error) {
	if a, ok := measure.Of(value, unit); ok {
		return a.String(), nil
	}
	value, ok := measure.Decimal(value)
	if !ok {
		return "", errors.New("must have at most 15 digits before the point, and 9 behind it")
	}
	return value + " " + unit, nil
}
