package stage

import (
	"testing"
	"time"
)

// TestPushLog logs pushes to a branch, and looks for the first one since a moment.
func TestPushLog(t *testing.T) {
	start := time.Now()
	push := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	cases := map[string]struct {
		reason string
		tips   []string
		since  time.Time
		want   time.Time
		isNone bool
	}{
		"First":   {reason: "The first push counts.", tips: []string{"b", "c"}, since: start, want: push(0)},
		"Earlier": {reason: "A push before the moment belongs to an earlier measurement.", tips: []string{"b", "c"}, since: push(1), want: push(1)},
		"State":   {reason: "A push that leaves the branch where it is delivers nothing.", tips: []string{"a", "b"}, since: start, want: push(1)},
		"Unknown": {reason: "A branch that cannot be read has not moved.", tips: []string{"", "b"}, since: start, want: push(1)},
		"None":    {reason: "After the last push nothing is found.", tips: []string{"b"}, since: push(1), isNone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := &PushLog{tip: "a"}
			for i, tip := range tc.tips {
				l.logPushedTip(tip, push(i))
			}
			got, isPushed := l.FirstSince(tc.since)
			if !got.Equal(tc.want) || isPushed == tc.isNone {
				t.Errorf("\n%s\nFirstSince(...): want %v, got %v, %t", tc.reason, tc.want, got, isPushed)
			}
		})
	}
}
