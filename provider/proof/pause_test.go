package proof

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func pausing(length string) func(*Facts) {
	return func(f *Facts) { f.Spec.Pause = length }
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
	began := func(p *v1alpha1.PauseObservation) func(*Facts) {
		return func(f *Facts) {
			f.Last = before(positionOf(2, 0), v1alpha1.SiteLive)
			f.Last.Pause = p
		}
	}
	timeAt := func(d time.Duration) func(*Facts) { return func(f *Facts) { f.Now = noon().Add(d) } }
	cases := map[string]struct {
		reason string
		facts  Facts
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
			facts:  testFacts(live(), pausing("10s"), func(f *Facts) { f.Draft.Pause = sawPause(positionOf(2, 0), 55, 65) }), want: sawPause(positionOf(2, 0), 55, 65),
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
			d := Decide(tc.facts)
			if diff := cmp.Diff(tc.want, d.Next.Pause); diff != "" {
				t.Errorf("\n%s\npause: -want, +got:\n%s", tc.reason, diff)
			}
			if !d.PauseEnd.IsZero() && !d.Recheck.Equal(d.PauseEnd) {
				t.Errorf("\n%s\nthe next look is at %s, and the pause ends at %s", tc.reason, d.Recheck, d.PauseEnd)
			}
			if tc.end > 0 && !d.PauseEnd.Equal(noon().Add(tc.end)) {
				t.Errorf("\n%s\nthe pause ends at %s, and not %s after the beginning", tc.reason, d.PauseEnd, tc.end)
			}
		})
	}
}
