package providerconfig

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository"
)

func TestIsLookDue(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	down := failure.Newf(failure.ClassTransient, "down")
	failed := func(ago, lasted time.Duration) repository.Answer {
		return repository.Answer{At: now.Add(-ago), FailingSince: now.Add(-ago - lasted), Err: down}
	}
	cases := map[string]struct {
		reason string
		answer repository.Answer
		want   bool
	}{
		"Never": {reason: "A repository that was not asked is looked at.", want: true},
		"Delivered": {
			reason: "A repository that a delivery looked at within half an hour is not looked at.",
			answer: repository.Answer{At: now.Add(-29 * time.Minute)},
		},
		"Unused": {
			reason: "A repository that no delivery looks at is looked at each half an hour.",
			answer: repository.Answer{At: now.Add(-30 * time.Minute)}, want: true,
		},
		"JustFailed":   {reason: "A repository that failed is left alone for a minute.", answer: failed(59*time.Second, 0)},
		"FailedOnce":   {reason: "A first failure is looked at again after a minute.", answer: failed(time.Minute, 0), want: true},
		"Failing":      {reason: "A repository that failed for four minutes is left alone for as long.", answer: failed(3*time.Minute, 4*time.Minute)},
		"FailingLong":  {reason: "A repository that failed for four minutes is looked at after as long.", answer: failed(4*time.Minute, 4*time.Minute), want: true},
		"FailingADay":  {reason: "A repository that failed for a day is looked at each ten minutes.", answer: failed(10*time.Minute, 24*time.Hour), want: true},
		"FailingADay2": {reason: "A repository that failed for a day is left alone for ten minutes.", answer: failed(9*time.Minute, 24*time.Hour)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, isObservationDue(tc.answer, now, ownInterval)); diff != "" {
				t.Errorf("\n%s\nisLookDue(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestVerdictOfAnswer(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	timestamp, refused := now.Add(-time.Minute), failure.Newf(failure.ClassStateRefused, "the ref is protected")
	cases := map[string]struct {
		reason string
		answer repository.Answer
		want   verdict
	}{
		"Unknown": {reason: "A repository that did not answer yet has no verdict.", want: verdict{}},
		"Reached": {reason: "A repository that answered is reachable.", answer: repository.Answer{At: timestamp}, want: verdict{reason: "Reachable"}},
		"Password": {
			reason: "A failure has the reason and the message that a GitDelivery would have.",
			answer: repository.Answer{At: timestamp, Err: failure.Newf(failure.ClassAuth, "wrong password")},
			want:   verdict{reason: "AuthFailed", message: "wrong password"},
		},
		"Server": {
			reason: "The words of the server are in the message.",
			answer: repository.Answer{At: timestamp, Err: &failure.Error{Class: failure.ClassTransient, Detail: "busy", Remote: "come back"}},
			want:   verdict{reason: "Unreachable", message: "busy. The server says: come back"},
		},
		"ReadOnly": {
			reason: "A repository that takes no push is not ready, although it can be read.",
			answer: repository.Answer{At: timestamp, PushErr: refused, PushFailedAt: timestamp},
			want:   verdict{reason: "StateRefused", message: "the ref is protected"},
		},
		"OldPush": {
			reason: "A push that no delivery tried again does not count for ever.",
			answer: repository.Answer{At: timestamp, PushErr: refused, PushFailedAt: now.Add(-ownInterval)}, want: verdict{reason: "Reachable"},
		},
		"LookFirst": {
			reason: "The result of a look counts more than a push.",
			answer: repository.Answer{
				At: timestamp, Err: failure.Newf(failure.ClassTrust, "unknown authority"), PushErr: refused, PushFailedAt: timestamp,
			},
			want: verdict{reason: "TrustFailed", message: "unknown authority"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, verdictOfAnswer(tc.answer, now, ownInterval), cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("\n%s\nverdictOfAnswer(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
