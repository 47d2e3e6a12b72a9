package proof

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// observePause returns the pause of the step, which begins when all of its Sites are first live. It is nil before that, and where no pause is
// requested.
func (f Facts) observePause(live bool) *v1alpha1.PauseObservation {
	length, err := time.ParseDuration(f.Spec.Pause)
	if err != nil {
		return nil // The step has no pause, or a user ends it: the API server has checked the form of all others.
	}
	start := f.pauseStartTime()
	if start.IsZero() && !live {
		return nil
	}
	// A status holds whole microseconds. The start is rounded up, so that no pause is short. Another clock wrote a later start.
	if now := roundTimeUp(f.Now, time.Microsecond); start.IsZero() || start.After(now) {
		start = now
	}
	second := start.Truncate(time.Second)
	return &v1alpha1.PauseObservation{
		Position: f.askedPosition(), StartedAt: metav1.NewTime(second), StartedMicros: int32(start.Sub(second).Microseconds()), //nolint:gosec // Less than a million.
		EndsAt: metav1.NewTime(roundTimeUp(start.Add(length), time.Second)),
	}
}

// pauseStartTime returns the time when the pause of this position began, or zero. A pause that is not in the status yet counts.
func (f Facts) pauseStartTime() time.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.Last, f.Draft} {
		if o.Pause != nil && o.Pause.Position == f.askedPosition() {
			return o.Pause.Start()
		}
	}
	return time.Time{}
}

// roundTimeUp returns a time, rounded up to a multiple of a unit.
func roundTimeUp(t time.Time, unit time.Duration) time.Time {
	if whole := t.Truncate(unit); !whole.Equal(t) {
		return whole.Add(unit)
	}
	return t
}

// pauseEndTime returns the time when the pause ends by time alone. It is zero if that is past, or without such a pause.
func (f Facts) pauseEndTime(p *v1alpha1.PauseObservation) time.Time {
	length, err := time.ParseDuration(f.Spec.Pause)
	if p == nil || err != nil || !f.Now.Before(p.Start().Add(length)) {
		return time.Time{}
	}
	return p.Start().Add(length)
}
