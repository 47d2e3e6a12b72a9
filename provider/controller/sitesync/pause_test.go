package sitesync

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/proof"
)

func TestReleasedCondition(t *testing.T) {
	pauseUntil := func(second int) *v1alpha1.PauseObservation {
		return &v1alpha1.PauseObservation{EndsAt: metav1.NewTime(noon().Add(time.Duration(second) * time.Second))}
	}
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
			pause:  "10s", goesOn: true, seen: pauseUntil(61), want: v1alpha1.ReasonPausing, status: corev1.ConditionFalse,
		},
		"Manual": {reason: "A pause that a user ends goes on until then.", pause: "Manual", want: v1alpha1.ReasonPausing, status: corev1.ConditionFalse},
		"Ended": {
			reason: "A user ended the pause that waited for that.",
			pause:  "Manual", ended: true, want: v1alpha1.ReasonPromoted, status: corev1.ConditionTrue,
		},
		"Early": {
			reason: "A user ended the pause before its time.",
			pause:  "10s", ended: true, seen: pauseUntil(61), want: v1alpha1.ReasonPromoted, status: corev1.ConditionTrue,
		},
		"Over": {
			reason: "A pause is over at its end.",
			pause:  "10s", seen: pauseUntil(60), want: v1alpha1.ReasonPauseOver, status: corev1.ConditionTrue,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.SiteSync{}
			s.SetGeneration(7)
			if tc.before != "" {
				s.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReleased, Reason: tc.before})
			}
			d := proof.Decision{Spec: v1alpha1.SiteSyncParameters{Pause: tc.pause, Promoted: tc.ended}, Next: v1alpha1.SiteSyncObservation{Pause: tc.seen}}
			if tc.goesOn {
				d.PauseEnd = tc.seen.EndsAt.Time
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
	f := testFacts(live())
	f.Spec.Pause = "10s"
	s := &v1alpha1.SiteSync{}
	s.Spec.ForProvider = f.Spec
	now := f.Now
	e := &external{connector: &connector{now: func() time.Time { return now }}, note: newObjectNote()}
	for _, want := range []xpv2.ConditionReason{v1alpha1.ReasonPausing, v1alpha1.ReasonPauseOver} {
		f.Last, f.Now = *s.Status.AtProvider.DeepCopy(), now
		e.updateStatus(s, proof.Decide(f))
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
		f := testFacts(live())
		f.Spec.Pause = length
		s := &v1alpha1.SiteSync{}
		s.Spec.ForProvider = f.Spec
		now := f.Now
		observe := func(n *note) {
			e := &external{connector: &connector{now: func() time.Time { return now }}, note: n}
			f.Last, f.Now = *s.Status.AtProvider.DeepCopy(), now
			e.updateStatus(s, proof.Decide(f))
			now = now.Add(maxProgressDelay + time.Second)
		}
		observe(newObjectNote())
		want := *s.Status.DeepCopy()
		for range 3 {
			n := newObjectNote()
			observe(n)
			observe(n)
			if diff := cmp.Diff(want, s.Status); diff != "" {
				t.Fatalf("\nA pause of %s is written once.\nstatus after %s: -want, +got:\n%s", length, now.Sub(noon()), diff)
			}
		}
	}
}
