package repository

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
			reason: "What passes by itself is tried again soon.",
			err:    &failure.Error{Class: failure.ClassTransient},
			want:   []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute},
		},
		"Auth": {
			reason: "What a user has to change is tried again later.",
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
			reason: "What the server refuses to one claim is tried again later.",
			err:    &failure.Error{Class: failure.ClassPolicy},
			want: []time.Duration{
				15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, now, got := backoff{}, time.Time{}, []time.Duration{}
			for range tc.want {
				b.recordResult(tc.err, now)
				got = append(got, b.until.Sub(now))
				now = b.until
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nrecordResult(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
