package sitesync

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func pausing(length string) func(*facts) {
	return func(f *facts) { f.spec.Pause = length }
}

// sawPause is a pause of a position that began so many seconds, and microseconds, after noon.
func sawPause(p *ledger.Position, second, end int, micros ...int32) *v1alpha1.PauseObservation {
	timeAt := func(n int) metav1.Time { return metav1.NewTime(noon().Add(time.Duration(n) * time.Second)) }
	out := &v1alpha1.PauseObservation{Position: *p, StartedAt: timeAt(second), EndsAt: timeAt(end)}
	for _, n := range micros {
		out.StartedMicros = n
	}
	return out
}

func TestPause(t *testing.T) {
	began := func(p *v1alpha1.PauseObservation) func(*facts) {
		return func(f *facts) {
			f.before = before(positionOf(2, 0), v1alpha1.SiteLive)
			f.before.Pause = p
		}
	}
	timeAt := func(d time.Duration) func(*facts) { return func(f *facts) { f.now = noon().Add(d) } }
	cases := map[string]struct {
		reason string
		facts  facts
		want   *v1alpha1.PauseObservation
		// end is the end of the pause after noon, where that is not a whole second.
		end time.Duration
	}{
		"None":    {reason: "A step without a pause has none.", facts: testFacts(live())},
		"NotLive": {reason: "A pause does not begin before each Site of the step is live.", facts: testFacts(says(v1alpha1.SiteReasonProgressing), pausing("10s"))},
		"Begins":  {reason: "A pause begins when the last Site is live.", facts: testFacts(live(), pausing("10s")), want: sawPause(positionOf(2, 0), 60, 70)},
		"Rounded": {
			reason: "A pause is never short, although a status holds its end to the second only.",
			facts:  testFacts(live(), pausing("1500ms"), timeAt(1200*time.Millisecond)),
			want:   sawPause(positionOf(2, 0), 1, 3, 200_000), end: 2700 * time.Millisecond,
		},
		"Micros": {
			reason: "A pause begins at a whole microsecond, and no earlier than it was seen.", facts: testFacts(live(), pausing("1s"), timeAt(1200*time.Millisecond+1)),
			want: sawPause(positionOf(2, 0), 1, 3, 200_001), end: 2200*time.Millisecond + time.Microsecond,
		},
		"Restart": {
			reason: "A restart of the provider neither shortens a pause nor makes it longer.",
			facts:  testFacts(live(), pausing("10s"), began(sawPause(positionOf(2, 0), 55, 66, 123_456))), want: sawPause(positionOf(2, 0), 55, 66, 123_456),
			end: 65*time.Second + 123_456*time.Microsecond,
		},
		"Flap": {
			reason: "A Site that is not live for a while does not restart a pause.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing), pausing("10s"), began(sawPause(positionOf(2, 0), 50, 60))), want: sawPause(positionOf(2, 0), 50, 60),
		},
		"Draft": {
			reason: "A start that is not in the status yet counts.",
			facts:  testFacts(live(), pausing("10s"), func(f *facts) { f.draft.Pause = sawPause(positionOf(2, 0), 55, 65) }), want: sawPause(positionOf(2, 0), 55, 65),
		},
		"Edited": {
			reason: "Another length moves the end, and not the start.",
			facts:  testFacts(live(), pausing("1h"), began(sawPause(positionOf(2, 0), 50, 60))), want: sawPause(positionOf(2, 0), 50, 3650),
		},
		"OtherPosition": {
			reason: "A pause of another position is not one of this.", facts: testFacts(live(), pausing("10s"), began(sawPause(positionOf(1, 0), 50, 60))),
			want: sawPause(positionOf(2, 0), 60, 70),
		},
		"OtherClock": {
			reason: "A start in the future counts as now.", facts: testFacts(live(), pausing("10s"), began(sawPause(positionOf(2, 0), 3600, 3610))),
			want: sawPause(positionOf(2, 0), 60, 70),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decideStatus(tc.facts)
			if diff := cmp.Diff(tc.want, d.next.Pause); diff != "" {
				t.Errorf("\n%s\npause: -want, +got:\n%s", tc.reason, diff)
			}
			if !d.pauseEnd.IsZero() && !d.again.Equal(d.pauseEnd) {
				t.Errorf("\n%s\nthe next look is at %s, and the pause ends at %s", tc.reason, d.again, d.pauseEnd)
			}
			if tc.end > 0 && !d.pauseEnd.Equal(noon().Add(tc.end)) {
				t.Errorf("\n%s\nthe pause ends at %s, and not %s after the beginning", tc.reason, d.pauseEnd, tc.end)
			}
		})
	}
}

func TestReleasedCondition(t *testing.T) {
	cases := map[string]struct {
		reason string
		pause  string
		ended  bool
		goesOn bool
		before xpv2.ConditionReason
		seen   *v1alpha1.PauseObservation
		want   xpv2.ConditionReason
		status corev1.ConditionStatus
	}{
		"Never": {reason: "A SiteSync without a requested pause has no condition Released."},
		"NoPause": {
			reason: "A step without a pause after a step with a pause is released.",
			before: v1alpha1.ReasonPausing, want: v1alpha1.ReasonNoPause, status: corev1.ConditionTrue,
		},
		"Awaited": {reason: "A pause that has not begun releases nothing.", pause: "10s", want: v1alpha1.ReasonPauseAwaited, status: corev1.ConditionFalse},
		"Pausing": {
			reason: "A pause that goes on releases nothing.",
			pause:  "10s", goesOn: true, seen: sawPause(positionOf(2, 0), 51, 61), want: v1alpha1.ReasonPausing, status: corev1.ConditionFalse,
		},
		"Manual": {reason: "A pause that a user ends goes on until then.", pause: "Manual", want: v1alpha1.ReasonPausing, status: corev1.ConditionFalse},
		"Ended": {
			reason: "A user ended the pause that waited for that.",
			pause:  "Manual", ended: true, want: v1alpha1.ReasonPromoted, status: corev1.ConditionTrue,
		},
		"Early": {
			reason: "A user ended the pause before its time.",
			pause:  "10s", ended: true, seen: sawPause(positionOf(2, 0), 51, 61), want: v1alpha1.ReasonPromoted, status: corev1.ConditionTrue,
		},
		"Over": {
			reason: "A pause is over at its end.",
			pause:  "10s", seen: sawPause(positionOf(2, 0), 50, 60), want: v1alpha1.ReasonPauseOver, status: corev1.ConditionTrue,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.SiteSync{}
			s.SetGeneration(7)
			if tc.before != "" {
				s.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReleased, Reason: tc.before})
			}
			d := decision{spec: v1alpha1.SiteSyncParameters{Pause: tc.pause, Promoted: tc.ended}, next: v1alpha1.SiteSyncObservation{Pause: tc.seen}}
			if tc.goesOn {
				d.pauseEnd = tc.seen.EndsAt.Time
			}
			got, isThere := releasedCondition(s, d)
			if isThere != (tc.want != "") || isThere && (got.Reason != tc.want || got.Status != tc.status || got.ObservedGeneration != 7) {
				t.Errorf("\n%s\nwant %s %q, got %t %+v", tc.reason, tc.status, tc.want, isThere, got)
			}
		})
	}
}

// TestReleasedIsWritten observes a SiteSync at the end of its pause, whose status is otherwise the same.
func TestReleasedIsWritten(t *testing.T) {
	f := testFacts(live(), pausing("10s"))
	s := &v1alpha1.SiteSync{}
	s.Spec.ForProvider = f.spec
	now := f.now
	e := &external{connector: &connector{now: func() time.Time { return now }}, note: newNote()}
	for _, want := range []xpv2.ConditionReason{v1alpha1.ReasonPausing, v1alpha1.ReasonPauseOver} {
		f.before, f.now = *s.Status.AtProvider.DeepCopy(), now
		e.updateStatus(s, decideStatus(f))
		if got := s.GetCondition(v1alpha1.TypeReleased).Reason; got != want {
			t.Errorf("the end of a pause is written at once, since the function waits for it: want %s, got %s", want, got)
		}
		now = now.Add(10 * time.Second)
	}
}

// TestPauseIsWrittenOnce observes a pause again and again, by providers without memory, as after restarts and changes of the leader. Each looks
// twice, a while apart, so that it writes its deferred status.
func TestPauseIsWrittenOnce(t *testing.T) {
	for _, length := range []string{"10m", "Manual"} {
		f := testFacts(live(), pausing(length))
		s := &v1alpha1.SiteSync{}
		s.Spec.ForProvider = f.spec
		now := f.now
		observe := func(n *note) {
			e := &external{connector: &connector{now: func() time.Time { return now }}, note: n}
			f.before, f.now = *s.Status.AtProvider.DeepCopy(), now
			e.updateStatus(s, decideStatus(f))
			now = now.Add(maxProgressDelay + time.Second)
		}
		observe(newNote())
		want := *s.Status.DeepCopy()
		for range 3 {
			n := newNote()
			observe(n)
			observe(n)
			if diff := cmp.Diff(want, s.Status); diff != "" {
				t.Fatalf("\nA pause of %s is written once.\nstatus after %s: -want, +got:\n%s", length, now.Sub(noon()), diff)
			}
		}
	}
}
