package sitesync

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// observePause returns the pause of the step, which begins when all of its Sites are first live. It is nil before that, and where no pause is
// requested.
func (f facts) observePause(live bool) *v1alpha1.PauseObservation {
	length, err := time.ParseDuration(f.spec.Pause)
	if err != nil {
		return nil // There is none, or a user ends it: the API server has checked the form of all others.
	}
	start := f.pauseStart()
	if start.IsZero() && !live {
		return nil
	}
	// A status holds whole microseconds. The start is rounded up, so that no pause is short. Another clock wrote a later start.
	if now := roundTimeUp(f.now, time.Microsecond); start.IsZero() || start.After(now) {
		start = now
	}
	second := start.Truncate(time.Second)
	return &v1alpha1.PauseObservation{
		Position: f.askedPosition(), StartedAt: metav1.NewTime(second), StartedMicros: int32(start.Sub(second).Microseconds()), //nolint:gosec // Less than a million.
		EndsAt: metav1.NewTime(roundTimeUp(start.Add(length), time.Second)),
	}
}

// pauseStart returns when the pause of this position began, or zero. A pause that is not in the status yet counts.
func (f facts) pauseStart() time.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.before, f.draft} {
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

// pauseEnd returns when the pause ends by time alone. It is zero if that is past, or there is none.
func (f facts) pauseEnd(p *v1alpha1.PauseObservation) time.Time {
	length, err := time.ParseDuration(f.spec.Pause)
	if p == nil || err != nil || !f.now.Before(p.Start().Add(length)) {
		return time.Time{}
	}
	return p.Start().Add(length)
}

// releasedCondition returns whether the pause of the step is over, and false where none was ever asked for.
func releasedCondition(s *v1alpha1.SiteSync, d decision) (xpv2.Condition, bool) {
	c := xpv2.Condition{Type: v1alpha1.TypeReleased, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
	switch {
	case d.spec.Pause == "" && s.GetCondition(v1alpha1.TypeReleased).Reason == "":
		return c, false
	case d.spec.Pause == "":
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonNoPause
	case d.spec.Promoted:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonPromoted
	case d.spec.Pause == ledger.PauseManual:
		c.Reason = v1alpha1.ReasonPausing
	case d.next.Pause == nil:
		c.Reason = v1alpha1.ReasonPauseAwaited
	case !d.pauseEnd.IsZero():
		c.Reason = v1alpha1.ReasonPausing
	default:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonPauseOver
	}
	return c.WithObservedGeneration(s.GetGeneration()), true
}
