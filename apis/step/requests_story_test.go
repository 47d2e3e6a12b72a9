package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// waitForApproval lets a new renderer wait for a user.
func waitForApproval(d *Desired) { d.RendererHold = HoldApprovalWaits }

// TestRetryBesideUpdate asks to start a revision again while a newer renderer would make other trees.
func TestRetryBesideUpdate(t *testing.T) {
	update := func(wait func(*Desired)) *Desired { return desired("a", newRenderer, wait) }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     Input
		want   string
		start  Hold
	}{
		"Waits": {
			reason: "A new renderer waits for a user to approve it.",
			events: good(1, "a"), in: input(update(waitForApproval), newVersions), start: HoldApprovalWaits,
		},
		"Verified": {
			reason: "A user who starts a verified revision again gets the newest renderer, as with each change of the spec.",
			events: good(1, "a"), in: input(update(waitForApproval), newVersions, asks(ask(ActionRetry, 1))), want: "Ordered a",
		},
		"Rejected": {
			reason: "A user starts a rejected revision again with the newest renderer: no update waits for approval beside that revision.",
			events: bad(1, "a"), in: input(update(waitForApproval), newVersions, asks(ask(ActionRetry, 1))), want: "Ordered a",
		},
		"Slot": {
			reason: "A user who starts a revision again does not wait for the slot of the deployment.",
			events: good(1, "a"), in: input(update(waitForSlot), newVersions, asks(ask(ActionRetry, 1))), want: "Ordered a",
		},
		"Suspended": {
			reason: "A suspended deployment does not start a revision again.",
			events: good(1, "a"), in: input(update(waitForApproval), newVersions, suspend, asks(ask(ActionRetry, 1))), start: HoldApprovalWaits,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, holds := Step(record(t, tc.events...), tc.in)
			if diff := cmp.Diff(tc.want, event(e)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.start, holds.Start); diff != "" {
				t.Errorf("\n%s\nStep(...): -want hold, +got hold:\n%s", tc.reason, diff)
			}
			if e != nil && e.Ordered != nil && e.Ordered.Revision.Request.Renderer != 2 {
				t.Errorf("\n%s\nrenderer of the next revision: want 2, got %d", tc.reason, e.Ordered.Revision.Request.Renderer)
			}
		})
	}
}

// TestRequestWithoutDigest asks to end revision 1, with or without the digests that the user saw.
func TestRequestWithoutDigest(t *testing.T) {
	withDigest := func(digest string) func(*Request) { return func(r *Request) { r.Digest = digest } }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(*Request)
		want   string
		result Result
	}{
		"Absent": {
			reason: "A request without digests is about revision 1 with any content.",
			events: []ledger.Event{ordered(1, "a")}, change: withDigest(""), want: "Judged Rejected", result: ResultWaiting,
		},
		"OtherContent": {
			reason: "A request with the digests of a revision 1 that was lost with its ledger is stale.",
			events: []ledger.Event{ordered(1, "a")}, change: withDigest(desired("lost").Request.Digest()), result: ResultStale,
		},
		"Nothing": {
			reason: "A request waits while nothing is recorded: revision 1 may be recorded in a home out of sight.",
			change: withDigest(""), result: ResultWaiting,
		},
		"Later": {
			reason: "A request about revision 1 without digests is stale once revision 2 was ordered.",
			events: join(good(1, "a"), []ledger.Event{ordered(2, "b")}), change: withDigest(""), result: ResultStale,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, request := record(t, tc.events...), ask(ActionAbort, 1, tc.change)
			in := input(nil, asks(request))
			e, _ := Step(s, in)
			if diff := cmp.Diff(tc.want, event(e)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.result, ResultOf(s, in, request)); diff != "" {
				t.Errorf("\n%s\nResultOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCrowdOfRequests has three users who ask for a Promote, a RollbackTo and an Abort of revision 2 in the same second, in each order.
func TestCrowdOfRequests(t *testing.T) {
	promote, rollBack, abort := ask(ActionPromote, 2, release(1)), ask(ActionRollbackTo, 2, to(1)), ask(ActionAbort, 2)
	for _, all := range [][]Request{
		{promote, rollBack, abort},
		{promote, abort, rollBack},
		{rollBack, promote, abort},
		{rollBack, abort, promote},
		{abort, promote, rollBack},
		{abort, rollBack, promote},
	} {
		in := input(desired("b"), hold("b", 2), asks(all...))
		s := record(t, join(good(1, "a"), []ledger.Event{ordered(2, "b", pausedPlan)})...)
		var got []string
		for range 8 {
			e, _ := Step(s, in)
			if e == nil {
				break
			}
			got = append(got, event(e))
			next, err := ledger.Append(s, at(60), *e)
			if err != nil {
				t.Fatal(err)
			}
			s = next
		}
		if diff := cmp.Diff([]string{"Judged Rejected", "Withdrawn", "RolledBack 1"}, got); diff != "" {
			t.Errorf("\nAn Abort comes first, then a RollbackTo, and a Promote releases nothing any more.\nStep(...): -want events, +got events:\n%s", diff)
		}
		results := []Result{ResultOf(s, in, abort), ResultOf(s, in, rollBack), ResultOf(s, in, promote)}
		if diff := cmp.Diff([]Result{ResultStale, ResultTaken, ResultStale}, results); diff != "" {
			t.Errorf("\nThe request that made the current revision is taken, and all others are stale.\nResultOf(...): -want, +got:\n%s", diff)
		}
	}
}

// TestClockBetweenRejections records the second rejection of an hour by a clock that went back.
func TestClockBetweenRejections(t *testing.T) {
	cases := map[string]struct {
		reason string
		second int
		want   string
	}{
		"Forward": {reason: "A second rejection within the hour is not rolled back under a policy of one.", second: 30},
		"Later":   {reason: "A rejection an hour later is rolled back.", second: 70, want: "RolledBack 1"},
		"Back": {
			reason: "A rejection of an earlier revision that is later by the clock does not count against the rollback.",
			second: -60, want: "RolledBack 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, good(1, "a")...)
			for _, recorded := range []struct {
				minute int
				events []ledger.Event
			}{{minute: 5, events: bad(2, "b")}, {minute: tc.second, events: bad(3, "c")}} {
				next, err := ledger.Append(s, at(recorded.minute), recorded.events...)
				if err != nil {
					t.Fatal(err)
				}
				s = next
			}
			e, _ := Step(s, input(desired("c"), hold("c", 3), onePerHour))
			if diff := cmp.Diff(tc.want, event(e)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
		})
	}
}
