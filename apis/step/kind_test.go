package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestKindOfWithdrawal rolls revision 2 back to revision 1.
func TestKindOfWithdrawal(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(s *ledger.State)
		want   Kind
	}{
		"Plain": {reason: "A user rolls a deployment without tracks back by a request.", change: func(*ledger.State) {}, want: KindRequest},
		"Tracks": {
			reason: "A rollback in tracks that a user asks for needs the spec.",
			change: func(s *ledger.State) { s.Current.Track, s.History[0].Track = ledger.TrackBlue, ledger.TrackGreen },
		},
		"From": {reason: "A rollback from a track to none needs the spec.", change: func(s *ledger.State) { s.Current.Track = ledger.TrackBlue }},
		"Into": {reason: "A rollback from no track into one needs the spec.", change: func(s *ledger.State) { s.History[0].Track = ledger.TrackBlue }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			recorded := record(t, ordered(1, "a"), advanced(1), verified("a"), ordered(2, "b"))
			s := *recorded.DeepCopy()
			tc.change(&s)
			if got := KindOf(s, ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1}}); got != tc.want {
				t.Errorf("\n%s\nKindOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestKindOf finds the kinds of events on top of a revision that has no verdict, or was rejected.
func TestKindOf(t *testing.T) {
	byRequest := ledger.Judged{Verdict: rejection(ledger.RejectedRequested), RequestRef: &ledger.RequestReference{Name: "r", UID: "u"}}
	cases := map[string]struct {
		reason     string
		event      ledger.Event
		isRejected bool
		want       Kind
	}{
		"Failed":  {reason: "A rejection by proof is of kind Reject.", event: rejected("GateFailed"), want: KindReject},
		"Aborted": {reason: "A rejection that a user asked for is of kind Request.", event: ledger.Event{Judged: &byRequest}, want: KindRequest},
		"EditedBack": {
			reason: "A move that its user edits back is rejected because of the spec, which no mandate has.",
			event:  ledger.Event{Judged: &ledger.Judged{Verdict: editedBackVerdict()}},
		},
		"FilesLost": {reason: "Lost files are found by rendering, which no mandate has.", event: rejected(ledger.RejectedFilesLost)},
		"Verified":  {reason: "A verdict may verify.", event: verified("a"), want: KindVerify},
		"Forgotten": {
			reason: "A rollback to a revision that is not remembered is not an event of a mandate.",
			event:  ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 7}},
		},
		"Promoted": {
			reason: "A release of a step is a way forward, although a user asks for it.",
			event:  ledger.Event{Promoted: &ledger.Promoted{Step: 1}}, want: KindAdvance,
		},
		"Full": {
			reason: "A release of all steps brings other files, which no mandate has.",
			event:  ledger.Event{Promoted: &ledger.Promoted{Full: true}},
		},
		"RolledBack": {reason: "An attempt is part of the rollback.", event: rolledBack(1), isRejected: true, want: KindRollBack},
		"Restored": {
			reason: "The end of an attempt is part of the rollback.",
			event:  ledger.Event{Restored: &ledger.Restored{}}, isRejected: true, want: KindRollBack,
		},
		"StageBack": {reason: "The next stage of a rejected revision is part of the rollback.", event: advanced(0), isRejected: true, want: KindRollBack},
		"Step":      {reason: "The next step of a revision without a verdict is a way forward.", event: advanced(1), want: KindAdvance},
		"Ordered":   {reason: "A revision begins by the spec, which no mandate has.", event: ordered(2, "b")},
		"Rebased":   {reason: "The digests of a revision come from the spec, which no mandate has.", event: ledger.Event{Rebased: &ledger.Rebased{}}},
		"Moved": {
			reason: "A ledger moves where other repositories allow it, which no mandate knows.",
			event:  ledger.Event{Moved: &ledger.Moved{Home: "other"}}, isRejected: true,
		},
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
