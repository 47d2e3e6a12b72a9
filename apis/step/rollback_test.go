package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

func marked(digest string) func(*ledger.Revision) {
	return func(r *ledger.Revision) { r.Marked = digest }
}

func irreversible(r *ledger.Revision) { r.Irreversible = true }

// withdrawn takes back all revisions after a target.
func withdrawn(target int64) ledger.Event {
	return ledger.Event{Withdrawn: &ledger.Withdrawn{Target: target, RequestRef: ledger.RequestReference{Name: "r", UID: "w"}}}
}

func TestRollBack(t *testing.T) {
	goodRevision, badRevision := good(1, "a"), bad(2, "b")
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     Input
		want   string
		hold   Hold
	}{
		"Begins": {
			reason: "A rejected revision is rolled back to the newest verified one where directories hold other trees than that brought.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("b", 2)), want: "RolledBack 1",
		},
		"Frozen": {
			reason: "A rollback needs no spec that can be compiled.",
			events: join(goodRevision, badRevision), in: input(nil, hold("b", 2)), want: "RolledBack 1",
		},
		"Suspended": {
			reason: "A suspended deployment rolls a rejected revision back.",
			events: join(goodRevision, badRevision), in: input(desired("b"), suspend, hold("b", 2)), want: "RolledBack 1",
		},
		"Off": {
			reason: "Without automatic rollback a rejected revision stays.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("b", 2), noRollback), hold: HoldRollbackOff,
		},
		"NoRetries": {
			reason: "A policy with no attempts rolls nothing back.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("b", 2), func(in *Input) { in.Policy.MaxRetries = 0 }), hold: HoldRollbackOff,
		},
		"NoTarget": {
			reason: "The first revision of a deployment has no target to roll back to.",
			events: bad(1, "a"), in: input(desired("a"), hold("a", 1)), hold: HoldNoTarget,
		},
		"NothingToRestore": {
			reason: "A revision that changed no directory needs no rollback.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("a", 1)), hold: HoldNothingToRestore,
		},
		"NotReported": {
			reason: "Whether a rollback changes anything is unknown until each repository has reported its directories.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("a", 1), notReported), hold: HoldNotRecorded,
		},
		"LeftSite": {
			reason: "A Site that the deployment left is not rolled back.",
			events: join(goodRevision, badRevision), hold: HoldNothingToRestore,
			in: input(desired("b"), func(in *Input) { in.Directories = []Directory{{Site: "edge1", IsKnown: true, Tree: "b"}} }),
		},
		"Attempting": {
			reason: "An attempt that neither worked nor failed goes on.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1)}), in: input(desired("b")),
		},
		"Restored": {
			reason: "An attempt after which the Sites run the target ends the rollback.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1)}), in: input(desired("b"), live), want: "Restored",
		},
		"NextAttempt": {
			reason: "An attempt that failed is followed by the next one.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1)}), in: input(desired("b"), failed), want: "RolledBack 1",
		},
		"AttemptsSpent": {
			reason: "No attempt follows the last allowed one of the policy.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1), rolledBack(1)}), in: input(desired("b"), failed), hold: HoldAttemptsSpent,
		},
		"OffBetweenAttempts": {
			reason: "An attempt that failed is not repeated once automatic rollback was switched off.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1)}), in: input(desired("b"), failed, noRollback), hold: HoldRollbackOff,
		},
		"OverAndDone": {
			reason: "A rollback that ended begins no other attempt.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1), {Restored: &ledger.Restored{}}}), in: input(desired("b"), failed),
		},
		"NewIntentDuringRollback": {
			reason: "Another intent ends a rollback that goes on.",
			events: join(goodRevision, badRevision, []ledger.Event{rolledBack(1)}), in: input(desired("c")), want: "Ordered c",
		},
		"Irreversible": {
			reason: "A revision that changed content that its Blueprint marks as irreversible is not rolled back without a request.",
			events: join(goodRevision, []ledger.Event{ordered(2, "b", irreversible), rejected("GateFailed")}), in: input(desired("b"), hold("b", 2)),
			hold: HoldIrreversible,
		},
		"ReversibleToTheOneBefore": {
			reason: "A revision that changed no marked content is rolled back to the previous one.",
			events: join(goodRevision, []ledger.Event{ordered(2, "b", marked("m")), rejected("GateFailed")}), in: input(desired("b"), hold("b", 2)),
			want: "RolledBack 1",
		},
		"UnknownMarks": {
			reason: "A target whose marks are unknown is not rolled back to without a request.",
			events: join(goodRevision, bad(2, "b"), []ledger.Event{ordered(3, "c", marked("m")), rejected("GateFailed")}), in: input(desired("c"), hold("c", 3)),
			hold: HoldIrreversible,
		},
		"SameMarks": {
			reason: "A target with the marks of the revision and of all whose trees it replaces is rolled back to.",
			events: join([]ledger.Event{ordered(1, "a", marked("m")), advanced(1), verified("a")}, bad(2, "b"),
				[]ledger.Event{ordered(3, "c", marked("m")), rejected("GateFailed")}),
			in: input(desired("c"), hold("c", 3)), want: "RolledBack 1",
		},
		"OtherMarksBetween": {
			reason: "A rollback that replaces trees of a revision with other marks needs a request.",
			events: join([]ledger.Event{ordered(1, "a", marked("m")), advanced(1), verified("a")}, bad(2, "b"),
				[]ledger.Event{ordered(3, "c", marked("m")), rejected("GateFailed")}),
			in: input(desired("c"), hold("b", 2)), hold: HoldIrreversible,
		},
		"MarksNotReported": {
			reason: "Which marks a rollback replaces is unknown until each repository has reported.",
			events: join([]ledger.Event{ordered(1, "a", marked("m")), advanced(1), verified("a")}, bad(2, "b"),
				[]ledger.Event{ordered(3, "c", marked("m")), rejected("GateFailed")}),
			in: input(desired("c"), hold("c", 3), notReported), hold: HoldNotRecorded,
		},
		"TooMany": {
			reason: "A second rejection within an hour is not rolled back where one is allowed.",
			events: join(goodRevision, badRevision, bad(3, "c")), in: input(desired("c"), hold("c", 3), onePerHour), hold: HoldTooManyRollbacks,
		},
		"OnlyOne": {
			reason: "The first rejection within an hour is rolled back where one is allowed.",
			events: join(goodRevision, badRevision), in: input(desired("b"), hold("b", 2), onePerHour), want: "RolledBack 1",
		},
		"AbortsDoNotCount": {
			reason: "A rejection that a user asked for does not count for the rollbacks of an hour.",
			events: join(goodRevision, []ledger.Event{ordered(2, "b"), rejected(ledger.RejectedRequested)}, bad(3, "c")),
			in:     input(desired("c"), hold("c", 3), onePerHour), want: "RolledBack 1",
		},
		"AbortIsNotCapped": {
			reason: "An abort asks for the rollback, regardless of the limit per hour.",
			events: join(goodRevision, badRevision, []ledger.Event{ordered(3, "c"), rejected(ledger.RejectedRequested)}),
			in:     input(desired("c"), hold("c", 3), onePerHour), want: "RolledBack 1",
		},
		"AbortOfIrreversible": {
			reason: "An abort does not roll back irreversible content.",
			events: join(goodRevision, []ledger.Event{ordered(2, "b", irreversible), rejected(ledger.RejectedRequested)}), in: input(desired("b"), hold("b", 2)),
			hold: HoldIrreversible,
		},
		"Requested": {
			reason: "A rollback that a user asked for needs no policy and minds no mark.",
			events: join(goodRevision, []ledger.Event{ordered(2, "b", irreversible), advanced(1), verified("b"), withdrawn(1)}),
			in:     input(desired("b"), hold("b", 2), noRollback), want: "RolledBack 1",
		},
		"RequestedWithoutChange": {
			reason: "A rollback that a user asked for proves that the Sites run the target where no directory has to change.",
			events: join(goodRevision, good(2, "b"), []ledger.Event{withdrawn(1)}), in: input(desired("b"), hold("a", 1)), want: "RolledBack 1",
		},
		"RequestedPastAnother": {
			reason: "A rollback goes to the revision that the user named, past verified ones after it.",
			events: join(goodRevision, good(2, "b"), good(3, "c"), []ledger.Event{withdrawn(1)}), in: input(desired("c"), hold("c", 3)), want: "RolledBack 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, holds := Step(record(t, tc.events...), tc.in)
			if diff := cmp.Diff(tc.want, event(got)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.hold, holds.Progress); diff != "" {
				t.Errorf("\n%s\nStep(...): -want hold, +got hold:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRejectionWaitsForItsTime applies a rejection that is not recorded yet: when it was recorded decides how many there were in its hour.
func TestRejectionWaitsForItsTime(t *testing.T) {
	s := record(t, join(good(1, "a"), bad(2, "b"), []ledger.Event{ordered(3, "c")})...)
	s, err := ledger.Apply(s, rejected("GateFailed"))
	if err != nil {
		t.Fatal(err)
	}
	got, holds := Step(s, input(desired("c"), hold("c", 3), onePerHour))
	if got != nil || holds.Progress != HoldNotRecorded {
		t.Errorf("Step(...): want hold %q, got event %q and hold %q", HoldNotRecorded, event(got), holds.Progress)
	}
}

// TestTargetOf chooses among two verified revisions.
func TestTargetOf(t *testing.T) {
	verifiedPast := func(number int64) ledger.Past {
		return ledger.Past{Number: number, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}}
	}
	cases := map[string]struct {
		reason  string
		target  int64
		current int64
		want    int64
	}{
		"Newest":  {reason: "A rollback goes to the newest verified revision.", current: 3, want: 2},
		"Asked":   {reason: "An attempt that began goes on to its target, though a newer revision was verified.", target: 1, current: 3, want: 1},
		"Earlier": {reason: "A revision is not rolled back to itself.", current: 2, want: 1},
		"None":    {reason: "Before the first revision there is none.", current: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := int64(0)
			s := ledger.State{Current: &ledger.Revision{Number: tc.current}, Target: tc.target, History: []ledger.Past{verifiedPast(1), verifiedPast(2)}}
			if p := TargetOf(s); p != nil {
				got = p.Number
			}
			if got != tc.want {
				t.Errorf("\n%s\nTargetOf(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
