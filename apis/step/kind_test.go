package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestKindOf finds the kinds of events on top of a revision that has no verdict, or was rejected.
func TestKindOf(t *testing.T) {
	byRequest := ledger.Judged{Verdict: rejection(ledger.RejectedRequested), RequestRef: &ledger.RequestReference{Name: "r", UID: "u"}}
	cases := map[string]struct {
		reason     string
		event      ledger.Event
		isRejected bool
		want       Kind
	}{
		"Failed":     {reason: "A verdict by what is proven rejects.", event: rejected("GateFailed"), want: KindReject},
		"Aborted":    {reason: "A rejection that a user asked for does what a request asks for.", event: ledger.Event{Judged: &byRequest}, want: KindRequest},
		"EditedBack": {reason: "A move that its user edits back is rejected because of the spec, which no mandate has.", event: ledger.Event{Judged: &ledger.Judged{Verdict: editedBack()}}},
		"FilesLost":  {reason: "That files are lost follows from what is rendered, which no mandate has.", event: rejected(ledger.RejectedFilesLost)},
		"Verified":   {reason: "A verdict may verify.", event: verified("a"), want: KindVerify},
		"Withdrawn":  {reason: "A user rolls back by a request.", event: ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1}}, want: KindRequest},
		"Promoted":   {reason: "A user releases a step by a request.", event: ledger.Event{Promoted: &ledger.Promoted{Step: 1}}, want: KindRequest},
		"RolledBack": {reason: "An attempt is part of the rollback.", event: rolledBack(1), isRejected: true, want: KindRollBack},
		"Restored":   {reason: "The end of an attempt is part of the rollback.", event: ledger.Event{Restored: &ledger.Restored{}}, isRejected: true, want: KindRollBack},
		"StageBack":  {reason: "The next stage of a rejected revision is part of the rollback.", event: advanced(0), isRejected: true, want: KindRollBack},
		"Step":       {reason: "The next step of a revision without a verdict is a way forward.", event: advanced(1), want: KindAdvance},
		"Ordered":    {reason: "A revision begins by the spec, which no mandate has.", event: ordered(2, "b")},
		"Rebased":    {reason: "The digests of a revision come from the spec, which no mandate has.", event: ledger.Event{Rebased: &ledger.Rebased{}}},
		"Moved":      {reason: "A ledger moves where other repositories allow it, which no mandate knows.", event: ledger.Event{Moved: &ledger.Moved{Home: "other"}}, isRejected: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, ordered(1, "a"))
			if tc.isRejected {
				s = record(t, ordered(1, "a"), rejected("GateFailed"))
			}
			if diff := cmp.Diff(tc.want, KindOf(s, tc.event)); diff != "" {
				t.Errorf("\n%s\nKindOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
