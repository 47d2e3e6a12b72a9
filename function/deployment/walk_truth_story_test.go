package deployment

import (
	"strings"
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestRecordedAgain loses the state of a repository that recorded a rejected revision in one push, and records events in it again.
func TestRecordedAgain(t *testing.T) {
	opened := ledger.Event{Opened: &ledger.Opened{Ledger: "one", Home: "default"}}
	ordered := ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{
		Number: 1, Request: ledger.Request{Intent: "a"}, Plan: []ledger.Step{{Sites: []string{"edge1"}}},
		Parts: []ledger.Part{{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}}},
	}}}
	rejected := ledger.Event{Judged: &ledger.Judged{
		Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: ledger.RejectedRequested}, RequestRef: &ledger.RequestReference{Name: "abort", UID: "u"},
	}}
	cases := map[string]struct {
		reason string
		again  []ledger.Event
		// want is how the violation begins. Empty means that nothing is wrong.
		want string
	}{
		"All": {reason: "Events that are recorded again in one push lead to the verdict that there was.", again: []ledger.Event{opened, ordered, rejected}},
		"Some": {
			reason: "A verdict that was recorded must not be missing after a push.",
			again:  []ledger.Event{opened, ordered}, want: "revision 1 was Rejected in epoch 1, and is not",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			model := newTruth()
			model.record(ledger.State{}, []ledger.Event{opened, ordered, rejected}, time.Time{})
			model.lossy = true
			model.record(ledger.State{}, tc.again, time.Time{})
			got := strings.Join(model.violations, "\n")
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("\n%s\nrecord(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
