package transition

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCountNewChanges(t *testing.T) {
	cases := map[string]struct {
		reason string
		// Each look is a log: a letter is a phase, and the digit its index. A repeated entry has another time.
		looks []string
		want  []int
	}{
		"First":   {reason: "All entries of the first log are new.", looks: []string{"a0 b1"}, want: []int{2}},
		"Same":    {reason: "An entry that was written again with another time is not new.", looks: []string{"a0 b1", "a0 b1"}, want: []int{2, 0}},
		"More":    {reason: "An entry that was added is new.", looks: []string{"a0", "a0 b1 c2"}, want: []int{1, 2}},
		"CutOff":  {reason: "An entry that was truncated does not count.", looks: []string{"a0 b1 c2", "b1 c2 d3"}, want: []int{3, 1}},
		"Again":   {reason: "An equal change in the same second is new.", looks: []string{"a0", "a0 a1"}, want: []int{1, 1}},
		"Back":    {reason: "A log that was restored and continues has new entries.", looks: []string{"a0 b1 c2", "a0", "a0 b1 c2"}, want: []int{3, 0, 0}},
		"Lost":    {reason: "A log that was lost and comes back has no new entry.", looks: []string{"a0 b1", "", "a0 b1"}, want: []int{2, 0, 0}},
		"Other":   {reason: "A log that was lost and differs is new.", looks: []string{"a0 b1", "", "a0 c1 d2"}, want: []int{2, 0, 2}},
		"Cleared": {reason: "A cleared log starts over, wherever it ended.", looks: []string{"d5 e6", "a0 b1", "a0 b1 c2"}, want: []int{2, 2, 1}},
		"Further": {reason: "A cleared log counts as new when it is as long as the previous log.", looks: []string{"d2 e3", "a0 b1 c2"}, want: []int{2, 3}},
		"Longer":  {reason: "A log that was restored to an earlier state has no new entry.", looks: []string{"b1 c2 d3", "a0 b1 c2"}, want: []int{3, 0}},
		"TooLate": {reason: "Entries that were added and truncated between two reads are lost.", looks: []string{"a0 b1", "d3 e4"}, want: []int{2, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &phaseLog{uid: "u1"}
			var got []int
			for n, look := range tc.looks {
				got = append(got, len(s.takeNewSteps(logOf(look, n))))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func logOf(look string, second int) []change {
	out := []change{}
	for entry := range strings.FieldsSeq(look) {
		out = append(out, change{
			Index: int64(entry[1] - '0'), To: entry[:1], At: metav1.NewTime(clock().Add(time.Duration(second) * time.Second)),
		})
	}
	return out
}

// TestNewSteps distinguishes equal changes, and measures only phases whose start is known.
func TestNewSteps(t *testing.T) {
	timestamp := metav1.NewTime(clock())
	s := &phaseLog{uid: "u1"}
	twice := s.takeNewSteps([]change{{To: "Pending", At: timestamp}, {Index: 1, To: "Pending", At: timestamp}})
	if twice[0].key == twice[1].key {
		t.Error("follow(...): two changes have one key")
	}
	later := metav1.NewTime(timestamp.Add(time.Minute))
	gap := s.takeNewSteps([]change{{Index: 2, From: "Delivering", To: "Failed", At: later}})
	if diff := cmp.Diff([]bool{false, false, false}, []bool{twice[0].hasDuration, twice[1].hasDuration, gap[0].hasDuration}); diff != "" {
		t.Errorf("follow(...): measured durations: -want, +got:\n%s", diff)
	}
}
