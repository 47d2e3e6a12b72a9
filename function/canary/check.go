package canary

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Bounds of durations.
const (
	minDuration = time.Second
	maxPause    = 720 * time.Hour
	maxDrain    = 10 * time.Minute
)

// checkWaveSteps returns an error for steps that a schema older than these rules may have accepted.
func checkWaveSteps(w Wave) error {
	last, hasPause := int32(0), false
	for i, s := range w.Steps {
		fail := func(format string, args ...any) error {
			return errors.Wrapf(errors.Errorf(format, args...), "%s[%d]", w.Field, i)
		}
		switch {
		case (s.Weight == nil) == (s.Pause == nil):
			return fail("exactly one of weight and pause must be set")
		case s.Pause != nil && s.Gate != nil:
			return fail("gate goes with weight")
		case s.Pause != nil && hasPause:
			return fail("a weight must stand between two pauses")
		case s.Weight != nil && (*s.Weight < 1 || *s.Weight > 100):
			return fail("weight %d is not between 1 and 100", *s.Weight)
		case s.Weight != nil && *s.Weight <= last:
			return fail("weight %d is not higher than the previous weight %d", *s.Weight, last)
		}
		if hasPause = s.Pause != nil; hasPause && s.Pause.Duration != "" {
			if _, ok := durationInBounds(s.Pause.Duration, maxPause); !ok {
				return fail("pause.duration: %q is not between 1s and 720h", s.Pause.Duration)
			}
			continue
		}
		if s.Weight != nil {
			last = *s.Weight
		}
	}
	return nil
}

// durationInBounds returns a duration, and whether it is in its bounds.
func durationInBounds(text deploymentv1alpha1.Duration, longest time.Duration) (time.Duration, bool) {
	d, err := time.ParseDuration(string(text))
	return d, err == nil && d >= minDuration && d <= longest
}

// CheckDrain returns an error for a time that a rollback could not wait for within an attempt. Empty means the defaults.
func CheckDrain(drain, attemptTimeout deploymentv1alpha1.Duration) error {
	if drain == "" {
		return nil
	}
	d, ok := durationInBounds(drain, maxDrain)
	if !ok {
		return errors.Errorf("spec.deliveryConfig.canary.drain: %q is not between 1s and 10m", drain)
	}
	timeout, err := time.ParseDuration(string(attemptTimeout))
	if err == nil && d >= timeout {
		return errors.Errorf("spec.deliveryConfig.canary.drain: %s is not less than spec.rollbackConfig.attemptTimeout, which is %s", drain, attemptTimeout)
	}
	return nil
}
