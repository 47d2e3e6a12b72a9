package backoff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestBackoffOfRepeatedFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    *failure.Error
		want   []time.Duration
	}{
		"Transient": {
			reason: "A transient failure is retried soon.",
			err:    &failure.Error{Class: failure.ClassTransient},
			want:   []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute},
		},
		"Auth": {
			reason: "A failure that a user has to fix is retried later.",
			err:    &failure.Error{Class: failure.ClassAuth},
			want: []time.Duration{
				15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute,
			},
		},
		"Concealed": {
			reason: "A concealed failure waits as long as wrong credentials do, whatever happened, so that the time of the next try reveals nothing.",
			err:    &failure.Error{Class: failure.ClassTransient, Cause: "connection refused"},
			want: []time.Duration{
				15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute,
			},
		},
		"Policy": {
			reason: "A refusal of one claim by the server is retried later.",
			err:    &failure.Error{Class: failure.ClassPolicy},
			want: []time.Duration{
				15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, now, got := Backoff{}, time.Time{}, []time.Duration{}
			for range tc.want {
				b.RecordResult(tc.err, now)
				got = append(got, b.until.Sub(now))
				now = b.until
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRecordResult(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestErrorSince shows the backoff after a failure, and that a user who asks after it ends the wait.
func TestErrorSince(t *testing.T) {
	failedAt := time.Date(2031, 5, 6, 14, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason     string
		asked, now time.Time
		waits      bool
	}{
		"Never": {reason: "Without a request the failure is waited out.", now: failedAt.Add(time.Second), waits: true},
		"Over":  {reason: "A wait that is over ends without a request.", now: failedAt.Add(time.Minute)},
		"Before": {
			reason: "A request from before the failure was answered by it.",
			asked:  failedAt.Add(-time.Second), now: failedAt.Add(time.Second), waits: true,
		},
		"Meanwhile": {reason: "A request of the moment of the failure was answered by it.", asked: failedAt, now: failedAt.Add(time.Second), waits: true},
		"After":     {reason: "A request after the failure ends the wait.", asked: failedAt.Add(time.Second), now: failedAt.Add(time.Second)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &Backoff{}
			b.RecordResult(&failure.Error{Class: failure.ClassPolicy}, failedAt)
			if err := b.ErrorSince(tc.asked, tc.now); (err != nil) != tc.waits {
				t.Errorf("\n%s\nErrorSince(...): %v, want an error: %t", tc.reason, err, tc.waits)
			}
		})
	}
}
