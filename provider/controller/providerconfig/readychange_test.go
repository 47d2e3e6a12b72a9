package providerconfig

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func ready(status corev1.ConditionStatus, reason, message string, generation int64) xpv2.Condition {
	return xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: xpv2.ConditionReason(reason), Message: message}.WithObservedGeneration(generation)
}

func TestPatienceFor(t *testing.T) {
	good, bad := ready(corev1.ConditionTrue, "Reachable", "", 2), ready(corev1.ConditionFalse, "AuthFailed", "no", 2)
	cases := map[string]struct {
		reason      string
		shown, want xpv2.Condition
		patience    time.Duration
	}{
		"FirstGood": {reason: "The first answer of a repository is written at once.", want: good},
		"FirstBad":  {reason: "A first failure waits a little, for a Secret that is created after its configuration.", want: bad, patience: firstFailure},
		"Edited": {
			reason: "The first good answer about an edited spec is written at once.",
			shown:  ready(corev1.ConditionFalse, "AuthFailed", "no", 1), want: good,
		},
		"EditedBad": {
			reason: "The first failure of an edited spec waits a little.",
			shown:  ready(corev1.ConditionTrue, "Reachable", "", 1), want: bad, patience: firstFailure,
		},
		"Recovered": {reason: "A repository that answers again has to do so for a minute.", shown: bad, want: good, patience: lasting},
		"Fails":     {reason: "A repository that does not answer any more has to do so for a minute.", shown: good, want: bad, patience: lasting},
		"OtherCause": {
			reason: "Another cause has to last for a minute.",
			shown:  ready(corev1.ConditionFalse, "Unreachable", "down", 2), want: bad, patience: lasting,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.patience, patienceFor(tc.shown, tc.want)); diff != "" {
				t.Errorf("\n%s\npatienceFor(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsShown(t *testing.T) {
	published := ready(corev1.ConditionFalse, "AuthFailed", "refused. The server says: request 1a2b3c4d", 1)
	cases := map[string]struct {
		reason string
		want   xpv2.Condition
		is     bool
	}{
		"Same": {reason: "An unchanged condition is shown.", want: published, is: true},
		"Serial": {
			reason: "The number that a server gives each request does not make a difference.",
			want:   ready(corev1.ConditionFalse, "AuthFailed", "refused. The server says: request 5e6f7a8b", 1), is: true,
		},
		"Message": {reason: "Another message is a difference.", want: ready(corev1.ConditionFalse, "AuthFailed", "the key is expired", 1)},
		"Reason":  {reason: "Another reason is a difference.", want: ready(corev1.ConditionFalse, "TrustFailed", published.Message, 1)},
		"Status":  {reason: "Another status is a difference.", want: ready(corev1.ConditionTrue, "AuthFailed", published.Message, 1)},
		"Generation": {
			reason: "The result for an earlier spec is not shown for the current spec.",
			want:   ready(corev1.ConditionFalse, "AuthFailed", published.Message, 2),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.is, isVerdictShown(published, tc.want)); diff != "" {
				t.Errorf("\n%s\nisShown(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChangeLog begins to count when an answer changes, and again when the spec changes or the change was written.
func TestChangeLog(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l, key := newChangeLog(), types.NamespacedName{Name: "default"}
	published := ready(corev1.ConditionFalse, "TrustFailed", "", 1)
	secondsAt := func(seconds int, reason string, generation int64) int {
		c := ready(corev1.ConditionFalse, reason, "", generation)
		return int(l.changeStartTime(key, published, c, began.Add(time.Duration(seconds)*time.Second)).Sub(began).Seconds())
	}
	got := []int{secondsAt(0, "Unreachable", 1), secondsAt(30, "Unreachable", 1), secondsAt(40, "AuthFailed", 1), secondsAt(50, "Unreachable", 1), secondsAt(70, "Unreachable", 2)}
	l.forgetConfig(key)
	got = append(got, secondsAt(90, "Unreachable", 2))
	if diff := cmp.Diff([]int{0, 0, 40, 50, 70, 90}, got); diff != "" {
		t.Errorf("since(...) in seconds: -want, +got:\n%s", diff)
	}
}

// TestChangeOfStatus counts from the first answer with another status: a repository that fails for one reason and then for another reason fails all
// the time.
func TestChangeOfStatus(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l, key, published := newChangeLog(), types.NamespacedName{Name: "default"}, ready(corev1.ConditionTrue, "Reachable", "", 1)
	var got []int
	for i, reason := range []string{"Unreachable", "AuthFailed", "Unreachable"} {
		now := began.Add(time.Duration(i) * time.Minute)
		got = append(got, int(l.changeStartTime(key, published, ready(corev1.ConditionFalse, reason, "", 1), now).Sub(began).Minutes()))
	}
	if diff := cmp.Diff([]int{0, 0, 0}, got); diff != "" {
		t.Errorf("since(...) in minutes: -want, +got:\n%s", diff)
	}
}
