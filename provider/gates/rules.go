// Package gates judges the measurements of Gates, also without data. It is pure: it measures nothing, and time is passed in.
//
// The answer of a server is an Answer. Criteria make a Measurement of it, which passed, failed, was inconclusive or went wrong. Rules say
// how many of each make a verdict.
package gates

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Bounds of the durations of a check.
const (
	minInterval = time.Second
	maxDuration = 24 * time.Hour
)

// Defaults of a check, as its definition has them.
const (
	defaultDelay    = 30 * time.Second
	defaultInterval = 30 * time.Second
	defaultTimeout  = 5 * time.Minute
	defaultCount    = 3
	defaultErrors   = 4
)

// Rules say when measurements make a verdict.
type Rules struct {
	// InitialDelay between the subject going live and the first measurement.
	InitialDelay time.Duration

	// Interval between measurements.
	Interval time.Duration

	// Timeout of the check, from the time that its first measurement was due.
	Timeout time.Duration

	// Count of measurements that make a verdict, without measurements that went wrong.
	Count int

	// FailureLimit is how many measurements may fail.
	FailureLimit int

	// ErrorLimit is how many measurements in a row may go wrong.
	ErrorLimit int

	// InconclusiveLimit is how many measurements may be inconclusive.
	InconclusiveLimit int

	// HoldsInconclusive ends a check that comes to no conclusion as Inconclusive, and not as Error.
	HoldsInconclusive bool

	// GoesOn says that the check is measured on after it has its count, since the step is not released.
	GoesOn bool

	// HasCount is true if the check had its count before, and would have passed. A restart, and a subject that is not live for a while, lose the measurements,
	// but not this fact.
	HasCount bool
}

// RulesOf a check. It returns an error for a check that cannot come to an end in the way that it asks for.
func RulesOf(c deploymentv1alpha1.Check) (Rules, error) {
	r := Rules{
		Count:             countOrDefault(c.Count, defaultCount),
		FailureLimit:      countOrDefault(c.FailureLimit, 0),
		ErrorLimit:        countOrDefault(c.ConsecutiveErrorLimit, defaultErrors),
		InconclusiveLimit: countOrDefault(c.InconclusiveLimit, 0),
	}
	for _, d := range []struct {
		name   string
		text   deploymentv1alpha1.Duration
		into   *time.Duration
		absent time.Duration
	}{
		{name: "initialDelay", text: c.InitialDelay, into: &r.InitialDelay, absent: defaultDelay},
		{name: "interval", text: c.Interval, into: &r.Interval, absent: defaultInterval},
		{name: "timeout", text: c.Timeout, into: &r.Timeout, absent: defaultTimeout},
	} {
		var err error
		if *d.into, err = parseDuration(string(d.text), d.absent); err != nil {
			return Rules{}, errors.Wrap(err, d.name)
		}
	}
	return r, r.checkBounds()
}

func (r Rules) checkBounds() error {
	if r.Interval < minInterval {
		return errors.Errorf("interval: must be at least %s", minInterval)
	}
	if r.Count < 1 || time.Duration(r.Count-1)*r.Interval >= r.Timeout {
		return errors.New("timeout: must be longer than it takes to measure count times at this interval")
	}
	return nil
}

func parseDuration(text string, absent time.Duration) (time.Duration, error) {
	if text == "" {
		return absent, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxDuration {
		return 0, errors.Errorf("must be a duration of at most %s", maxDuration)
	}
	return d, nil
}

func countOrDefault(n *int32, absent int) int {
	if n == nil {
		return absent
	}
	return int(*n)
}
